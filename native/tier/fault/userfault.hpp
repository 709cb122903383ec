#pragma once

#include "common/fd.hpp"
#include "tier/base/pagemap_reader.hpp"

#include <linux/userfaultfd.h>

#include <cstddef>
#include <cstdint>
#include <span>

// These definitions of include/uapi/linux/userfaultfd.h (Linux 6.8) are newer than the headers of Debian 12
// (Linux 6.1).
#ifndef UFFD_FEATURE_POISON
#define UFFD_FEATURE_POISON (1 << 14)
struct uffdio_poison {
    struct uffdio_range range;
    __u64 mode;
    __s64 updated;
};
#define UFFDIO_POISON _IOWR(UFFDIO, 0x08, struct uffdio_poison)
#endif
#ifndef UFFD_FEATURE_MOVE
#define UFFD_FEATURE_MOVE (1 << 16)
struct uffdio_move {
    __u64 dst;
    __u64 src;
    __u64 len;
    __u64 mode;
    __s64 move;
};
#define UFFDIO_MOVE_MODE_DONTWAKE (1ULL << 0)
#define UFFDIO_MOVE_MODE_ALLOW_SRC_HOLES (1ULL << 1)
#define UFFDIO_MOVE _IOWR(UFFDIO, 0x05, struct uffdio_move)
#endif
#ifndef USERFAULTFD_IOC_NEW
#define USERFAULTFD_IOC_NEW _IO(0xAA, 0x00)
#endif

namespace assay::tier {

/// Method of moving pages between frames and regions.
enum class MapMethod : std::uint8_t {
    move, ///< Move pages (UFFDIO_MOVE, Linux 6.8). Pages in use by the kernel cannot be moved.
    /// Copy into new pages (UFFDIO_COPY), and evict by moving page table entries (mremap(2) with
    /// MREMAP_DONTUNMAP, Linux 5.7). Pages that a device or the kernel is about to fill cannot be detected.
    copy,
};

/// Page faults of this process, resolved in user space by userfaultfd(2).
///
/// Operations return 0 or an error number, and never throw.
class Userfault {
  public:
    /// Features of this kernel. Faults within system calls need root, CAP_SYS_PTRACE, access to
    /// /dev/userfaultfd, or vm.unprivileged_userfaultfd.
    struct Support {
        std::uint64_t features = 0;
        bool in_kernel = false;
        int error = 0; ///< Error number if userfaultfd is not available.
        [[nodiscard]] bool moves() const { return (features & UFFD_FEATURE_MOVE) != 0; }
        [[nodiscard]] MapMethod best() const { return moves() ? MapMethod::move : MapMethod::copy; }
    };
    [[nodiscard]] static Support support();
    /// Return true if pages can be moved away from a mapping that stays, as MapMethod::copy requires.
    [[nodiscard]] static bool can_move_pages();

    /// \throws std::runtime_error if the kernel or the rights of this process do not allow it.
    explicit Userfault(std::uint64_t features);

    [[nodiscard]] int fd() const { return fd_.get(); }

    [[nodiscard]] int register_range(void* at, std::size_t bytes) const;

    struct Moved {
        int error = 0;
        std::size_t bytes = 0; ///< Bytes processed from the beginning; all of them without an error.
    };
    /// Move pages and wake waiting threads.
    ///
    /// \param holes whether source pages may be missing.
    /// \returns ENOENT for a missing page; EBUSY for a page in use by the kernel or a child process; EINVAL
    ///     for mappings that differ (mlock, mprotect); EAGAIN while an event is unread.
    [[nodiscard]] Moved move(void* to, void* from, std::size_t bytes, bool holes = false) const;
    /// Copy pages and wake waiting threads.
    ///
    /// \returns EEXIST for a present page; EAGAIN while an event is unread.
    [[nodiscard]] Moved copy(void* to, const void* from, std::size_t bytes) const;
    /// Make accesses raise SIGBUS. \returns EAGAIN while an event is unread.
    [[nodiscard]] Moved poison(void* at, std::size_t bytes) const;
    void wake(void* at, std::size_t bytes) const;

    /// Read pending messages into `messages`. \returns the part that was filled.
    [[nodiscard]] std::span<uffd_msg> read(std::span<uffd_msg> messages) const;

  private:
    Fd fd_;
    PagemapReader pagemap_;
};

} // namespace assay::tier
