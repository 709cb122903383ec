#pragma once

#include "common/fd.hpp"

#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <utility>

namespace assay::tier {

/// Maximum number of reserved high descriptors.
inline constexpr int high_descriptor_count = 64;

/// Return the first high descriptor number; 0 if the limit on descriptors is too low for any.
inline int first_high_descriptor() {
    constexpr rlim_t room = high_descriptor_count, highest = 4000;
    rlimit max{};
    if (::getrlimit(RLIMIT_NOFILE, &max) != 0 || max.rlim_cur <= 2 * room) return 0;
    return static_cast<int>(std::min(max.rlim_cur - room, highest));
}

/// Move a descriptor to a high number. Programs expect low numbers to be free, and place their own files
/// there (dup2).
inline Fd move_high(Fd fd) {
    const int from = first_high_descriptor();
    if (!fd || from == 0) return fd;
    Fd high(::fcntl(fd.get(), F_DUPFD_CLOEXEC, from));
    return high ? std::move(high) : std::move(fd);
}

} // namespace assay::tier
