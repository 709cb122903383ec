#pragma once

#include "common/fd.hpp"

#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <utility>

namespace assay::tier {

/// So many descriptors have high numbers at most.
inline constexpr int high_descriptor_count = 64;

/// Their first number; 0 where as few descriptors are allowed that all are low.
inline int first_high_descriptor() {
    constexpr rlim_t room = high_descriptor_count, highest = 4000;
    rlimit max{};
    if (::getrlimit(RLIMIT_NOFILE, &max) != 0 || max.rlim_cur <= 2 * room) return 0;
    return static_cast<int>(std::min(max.rlim_cur - room, highest));
}

/// The same with a high number: programs count on low ones to be free, and put their own files there (dup2).
inline Fd move_high(Fd fd) {
    const int from = first_high_descriptor();
    if (!fd || from == 0) return fd;
    Fd high(::fcntl(fd.get(), F_DUPFD_CLOEXEC, from));
    return high ? std::move(high) : std::move(fd);
}

} // namespace assay::tier
