#pragma once

#include "common/fd.hpp"

#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <utility>

namespace assay::tier {

/// So many descriptors have high numbers at most.
inline constexpr int lifted_room = 64;

/// Their first number; 0 where as few descriptors are allowed that all are low.
inline int lifted_from() {
    constexpr rlim_t room = lifted_room, highest = 4000;
    rlimit most{};
    if (::getrlimit(RLIMIT_NOFILE, &most) != 0 || most.rlim_cur <= 2 * room) return 0;
    return static_cast<int>(std::min(most.rlim_cur - room, highest));
}

/// The same with a high number: programs count on low ones to be free, and put their own files there (dup2).
inline Fd lifted(Fd fd) {
    const int from = lifted_from();
    if (!fd || from == 0) return fd;
    Fd high(::fcntl(fd.get(), F_DUPFD_CLOEXEC, from));
    return high ? std::move(high) : std::move(fd);
}

} // namespace assay::tier
