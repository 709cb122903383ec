#include "tier/base/export.hpp"
#include "tier/base/messages.hpp"
#include "tier/base/sys.hpp"
#include "tier/preload/interposer.hpp"

#include <fcntl.h>
#include <limits.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

namespace {

using namespace assay::tier;
using namespace assay::tier::preload;

int refuse_lock() {
    static std::atomic_flag printed;
    if (!printed.test_and_set())
        print_message({"the program tries to lock managed memory (mlock), which fails with ENOMEM"});
    errno = ENOMEM;
    return -1;
}

} // namespace

// vmsplice(2) and MSG_ZEROCOPY hand pages over without copying, and the kernel uses them after the call has
// returned. It does not pin them, so the pager could move them meanwhile (Linux 6.18: vmsplice_to_pipe of
// fs/splice.c and msg_zerocopy of net/core/skbuff.c only take references, which UFFDIO_MOVE does not detect).

ASSAY_TIER_EXPORT ssize_t vmsplice(int fd, const iovec* parts, std::size_t count, unsigned flags) {
    const int access = ::fcntl(fd, F_GETFL) & O_ACCMODE;
    bool ours = false;
    for (std::size_t i = 0; i < count; ++i) ours = ours || interposer().contains(parts[i].iov_base);
    if (!ours || access == O_RDONLY) return ::syscall(SYS_vmsplice, fd, parts, count, flags);
    const int some = static_cast<int>(std::min<std::size_t>(count, IOV_MAX));
    return (flags & SPLICE_F_NONBLOCK) != 0 ? ::pwritev2(fd, parts, some, -1, RWF_NOWAIT)
                                            : ::writev(fd, parts, some);
}

ASSAY_TIER_EXPORT int setsockopt(int fd, int level, int option, const void* value, socklen_t bytes) noexcept {
    if (level == SOL_SOCKET && option == SO_ZEROCOPY && interposer().arena() != nullptr) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return static_cast<int>(::syscall(SYS_setsockopt, fd, level, option, value, bytes));
}

ASSAY_TIER_EXPORT int mlock(const void* at, std::size_t bytes) noexcept {
    return interposer().contains(at) ? refuse_lock() : static_cast<int>(::syscall(SYS_mlock, at, bytes));
}

ASSAY_TIER_EXPORT int mlock2(const void* at, std::size_t bytes, unsigned flags) noexcept {
    return interposer().contains(at) ? refuse_lock()
                                     : static_cast<int>(::syscall(SYS_mlock2, at, bytes, flags));
}

ASSAY_TIER_EXPORT int mlockall(int flags) noexcept {
    return interposer().arena() != nullptr ? refuse_lock() : static_cast<int>(::syscall(SYS_mlockall, flags));
}
