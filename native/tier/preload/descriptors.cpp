#include "tier/base/export.hpp"
#include "tier/preload/interposer.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

using assay::tier::preload::interposer;

// Programs close descriptors that they did not open, before they daemonise or start other programs. Child
// processes find the DRAM budget of the run through one descriptor, which is protected here. All other
// descriptors of the pager lie in a private table.

ASSAY_TIER_EXPORT int close(int fd) {
    if (interposer().owns(fd)) {
        errno = EBADF;
        return -1;
    }
    return static_cast<int>(::syscall(SYS_close, fd));
}

ASSAY_TIER_EXPORT int close_range(unsigned first, unsigned last, int flags) noexcept {
    const auto own = static_cast<unsigned>(interposer().descriptor());
    if (own >= first && own <= last && interposer().owns(static_cast<int>(own))) {
        if (own > first && ::syscall(SYS_close_range, first, own - 1, flags) != 0) return -1;
        first = own + 1;
    }
    return first > last ? 0 : static_cast<int>(::syscall(SYS_close_range, first, last, flags));
}

ASSAY_TIER_EXPORT void closefrom(int first) noexcept {
    const auto from = static_cast<unsigned>(first < 0 ? 0 : first);
    if (close_range(from, ~0U, 0) == 0) return;
    // Before Linux 5.9, or with a filter that forbids the system call.
    const long max = ::sysconf(_SC_OPEN_MAX);
    for (long fd = from; fd < max; ++fd) static_cast<void>(close(static_cast<int>(fd)));
}

ASSAY_TIER_EXPORT int dup3(int from, int to, int flags) noexcept {
    if (interposer().owns(to)) {
        errno = EBUSY;
        return -1;
    }
    return static_cast<int>(::syscall(SYS_dup3, from, to, flags));
}

ASSAY_TIER_EXPORT int dup2(int from, int to) noexcept {
    if (from == to) return ::fcntl(from, F_GETFD) == -1 ? -1 : to;
    return dup3(from, to, 0);
}
