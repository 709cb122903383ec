#include "tier/base/private_descriptors.hpp"

#include "common/dir.hpp"

#include <linux/close_range.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>
#include <vector>

namespace assay::tier {

namespace {

long close_from_to(unsigned first, unsigned last, unsigned flags) {
    return first > last ? 0 : ::syscall(SYS_close_range, first, last, flags);
}

/// Close all descriptors but one, before Linux 5.9 or with a filter that forbids close_range(2).
void close_one_by_one(int kept) {
    std::vector<int> found;
    if (const Dir open{::opendir("/proc/thread-self/fd")}; open) {
        while (const dirent* const entry = ::readdir(open.get())) {
            int fd = -1;
            const char* const end = entry->d_name + std::strlen(entry->d_name);
            if (std::from_chars(entry->d_name, end, fd).ptr == end) found.push_back(fd);
        }
    }
    for (const int fd : found)
        if (fd != kept) ::syscall(SYS_close, fd);
}

} // namespace

void unshare_descriptors(int kept) {
    const unsigned after = static_cast<unsigned>(kept) + 1;
    if (close_from_to(after, ~0U, CLOSE_RANGE_UNSHARE) != 0) {
        if (::unshare(CLONE_FILES) != 0)
            throw std::system_error(errno, std::generic_category(), "private descriptor table");
        close_one_by_one(kept);
    } else if (kept > 0) {
        close_from_to(0, static_cast<unsigned>(kept) - 1, 0);
    }
    // Messages are written to descriptor 2 by number, and must never reach a file of the store. These
    // placeholders cannot be written to.
    for (int fd = 0; fd >= 0 && fd <= STDERR_FILENO;) {
        fd = ::epoll_create1(EPOLL_CLOEXEC);
        if (fd > STDERR_FILENO) ::close(fd);
    }
}

} // namespace assay::tier
