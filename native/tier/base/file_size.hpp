#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace assay::tier {

/// Check a file size against RLIMIT_FSIZE (ulimit -f).
///
/// Exceeding the limit raises SIGXFSZ, which terminates the program without a message, even for
/// memfd_create(2).
/// \returns false with errno.
[[nodiscard]] inline bool is_size_allowed(std::size_t bytes) {
    rlimit max{};
    if (::getrlimit(RLIMIT_FSIZE, &max) != 0 || bytes <= max.rlim_cur) return true;
    errno = EFBIG;
    return false;
}

/// Set the size of a file. \returns false with errno.
[[nodiscard]] inline bool set_file_size(int fd, std::size_t bytes) {
    return is_size_allowed(bytes) && ::ftruncate(fd, static_cast<off_t>(bytes)) == 0;
}

} // namespace assay::tier
