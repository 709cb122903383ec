#include "tier/fault/userfault.hpp"

#include "tier/base/sys.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace assay::tier {

namespace {

std::uint64_t number(const void* at) {
    return reinterpret_cast<std::uint64_t>(at);
}

/// Open a userfaultfd. The device comes first: it can be assigned to a group, whereas the system call needs a
/// capability (Linux 6.1).
Fd open_fd() {
    if (const Fd device(::open("/dev/userfaultfd", O_RDWR | O_CLOEXEC)); device) {
        Fd fd(::ioctl(device.get(), USERFAULTFD_IOC_NEW, O_CLOEXEC | O_NONBLOCK));
        if (fd) return fd;
    }
    return Fd(static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK)));
}

/// Repeat a partial operation. The kernel reports the error of the remainder only at the next call.
///
/// \param step performs the remainder and returns the processed bytes; zero or less with errno.
template <class Step>
Userfault::Moved step_by_step(std::size_t bytes, Step step) {
    std::size_t done = 0;
    while (done < bytes) {
        const std::int64_t more = step(done);
        if (more <= 0) return {errno, done};
        done += static_cast<std::size_t>(more);
    }
    return {0, bytes};
}

int called(int status) {
    return status == 0 ? 0 : errno;
}

} // namespace

Userfault::Support Userfault::support() {
    Support support;
    Fd fd = open_fd();
    support.in_kernel = static_cast<bool>(fd);
#ifdef UFFD_USER_MODE_ONLY
    if (!fd)
        fd = Fd(static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY)));
#endif
    uffdio_api api{UFFD_API, 0, 0};
    if (!fd || ::ioctl(fd.get(), UFFDIO_API, &api) != 0)
        support.error = errno;
    else
        support.features = api.features;
    return support;
}

bool Userfault::can_move_pages() {
    std::byte* const both = sys::map(2 * page);
    if (both == nullptr) return false;
    *both = std::byte{1};
    const bool can = sys::move_pages(both + page, both, page) == 0;
    sys::unmap(both, 2 * page);
    return can;
}

Userfault::Userfault(std::uint64_t features) : fd_(open_fd()) {
    if (!fd_)
        throw std::runtime_error(std::string("userfaultfd is not available (") + std::strerror(errno) +
                                 "): run as root, or follow `assay tier doctor`");
    uffdio_api api{UFFD_API, features, 0};
    if (::ioctl(fd_.get(), UFFDIO_API, &api) != 0)
        throw std::runtime_error((features & UFFD_FEATURE_MOVE) != 0
                                     ? "this kernel cannot move pages (UFFDIO_MOVE): use Linux 6.8 or newer"
                                     : "this kernel does not report the threads of page faults "
                                       "(UFFD_FEATURE_THREAD_ID): use Linux 5.7 or newer");
}

int Userfault::register_range(void* at, std::size_t bytes) const {
    uffdio_register range{{number(at), bytes}, UFFDIO_REGISTER_MODE_MISSING, 0};
    return called(::ioctl(fd_.get(), UFFDIO_REGISTER, &range));
}

Userfault::Moved Userfault::move(void* to, void* from, std::size_t bytes, bool holes) const {
    std::size_t done = 0;
    while (done < bytes) {
        auto* const target = static_cast<std::byte*>(to) + done;
        auto* const source = static_cast<std::byte*>(from) + done;
        uffdio_move range{number(target), number(source), bytes - done,
                          holes ? UFFDIO_MOVE_MODE_ALLOW_SRC_HOLES : 0, 0};
        if (::ioctl(fd_.get(), UFFDIO_MOVE, &range) == 0) return {0, bytes};
        const int error = errno;
        if (range.move > 0) {
            // Only the next call reports the error of the remainder.
            done += static_cast<std::size_t>(range.move);
        } else if (pagemap_.is_populated(target) && pagemap_.is_empty(source)) {
            // If the last page before the unmovable one was in swap, Linux 6.18 moves it without counting it.
            // Treating it as not moved would lose its content.
            wake(target, page);
            done += page;
        } else {
            return {error, done};
        }
    }
    return {0, bytes};
}

Userfault::Moved Userfault::copy(void* to, const void* from, std::size_t bytes) const {
    return step_by_step(bytes, [&](std::size_t done) {
        uffdio_copy range{number(to) + done, number(from) + done, bytes - done, 0, 0};
        return ::ioctl(fd_.get(), UFFDIO_COPY, &range) == 0 ? static_cast<std::int64_t>(range.len)
                                                            : range.copy;
    });
}

Userfault::Moved Userfault::poison(void* at, std::size_t bytes) const {
    return step_by_step(bytes, [&](std::size_t done) {
        uffdio_poison range{{number(at) + done, bytes - done}, 0, 0};
        return ::ioctl(fd_.get(), UFFDIO_POISON, &range) == 0 ? static_cast<std::int64_t>(range.range.len)
                                                              : range.updated;
    });
}

void Userfault::wake(void* at, std::size_t bytes) const {
    uffdio_range range{number(at), bytes};
    ::ioctl(fd_.get(), UFFDIO_WAKE, &range);
}

std::span<uffd_msg> Userfault::read(std::span<uffd_msg> messages) const {
    const ssize_t got = ::read(fd_.get(), messages.data(), messages.size_bytes());
    return messages.first(got <= 0 ? 0 : static_cast<std::size_t>(got) / sizeof(uffd_msg));
}

} // namespace assay::tier
