#pragma once

#include "common/fd.hpp"

#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <utility>

namespace assay::tier {

/// The same with a high number: programs count on low ones to be free, and put their own files there (dup2).
inline Fd lifted(Fd fd) {
    constexpr rlim_t room = 64, highest = 4000;
    rlimit most{};
    if (!fd || ::getrlimit(RLIMIT_NOFILE, &most) != 0 || most.rlim_cur <= 2 * room) return fd;
    const rlim_t from = std::min(most.rlim_cur - room, highest);
    Fd high(::fcntl(fd.get(), F_DUPFD_CLOEXEC, static_cast<int>(from)));
    return high ? std::move(high) : std::move(fd);
}

} // namespace assay::tier
