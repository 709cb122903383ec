#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace assay::tier {

/// Whether a file may be so large (ulimit -f). Whoever makes one larger than that is told by SIGXFSZ, which
/// ends a program without a word, also where the file is memory (memfd_create(2)).
///
/// \returns false with errno.
[[nodiscard]] inline bool is_size_allowed(std::size_t bytes) {
    rlimit max{};
    if (::getrlimit(RLIMIT_FSIZE, &max) != 0 || bytes <= max.rlim_cur) return true;
    errno = EFBIG;
    return false;
}

/// \returns false with errno.
[[nodiscard]] inline bool set_file_size(int fd, std::size_t bytes) {
    return is_size_allowed(bytes) && ::ftruncate(fd, static_cast<off_t>(bytes)) == 0;
}

} // namespace assay::tier
