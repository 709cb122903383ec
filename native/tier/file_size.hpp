#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <limits>

namespace assay::tier {

/// Bytes of a file at most (ulimit -f). Whoever makes a larger one is told by SIGXFSZ, which ends a program
/// without a word, also where the file is memory (memfd_create(2)).
[[nodiscard]] inline std::size_t largest_file() {
    rlimit most{};
    if (::getrlimit(RLIMIT_FSIZE, &most) != 0) return std::numeric_limits<std::size_t>::max();
    return most.rlim_cur;
}

/// \returns false with errno.
[[nodiscard]] inline bool size_file(int fd, std::size_t bytes) {
    if (bytes <= largest_file()) return ::ftruncate(fd, static_cast<off_t>(bytes)) == 0;
    errno = EFBIG;
    return false;
}

} // namespace assay::tier
