#pragma once

#include "common/fd.hpp"
#include "tier/base/pagemap_reader.hpp"

#include <linux/userfaultfd.h>

#include <cstddef>
#include <cstdint>
#include <span>

// Interfaces newer than the headers of Debian 12 (Linux 6.1); include/uapi/linux/userfaultfd.h of Linux 6.8.
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

/// How what frames hold comes to where it is touched, and leaves it.
enum class MapMethod : std::uint8_t {
    move, ///< Pages change their place (UFFDIO_MOVE, Linux 6.8). Those that the kernel is using stay.
    /// New pages are filled (UFFDIO_COPY), and pages leave with their part of the page table (mremap(2),
    /// MREMAP_DONTUNMAP, Linux 5.7). Nothing tells of pages that a device or the kernel is about to fill.
    copy,
};

/// Faults of this process that are answered here instead of by the kernel: userfaultfd(2).
///
/// Operations return 0, or what errno would say; none of them throws.
class Userfault {
  public:
    /// All that this kernel offers, and whether faults within system calls are told as well: that needs root,
    /// CAP_SYS_PTRACE, the right to open /dev/userfaultfd, or vm.unprivileged_userfaultfd.
    struct Offer {
        std::uint64_t features = 0;
        bool in_kernel = false;
        int error = 0; ///< errno, where there is none at all.
        [[nodiscard]] bool moves() const { return (features & UFFD_FEATURE_MOVE) != 0; }
        [[nodiscard]] MapMethod best() const { return moves() ? MapMethod::move : MapMethod::copy; }
    };
    [[nodiscard]] static Offer offer();
    /// Whether memory can leave its place while the place stays, which Exchange::copy needs.
    [[nodiscard]] static bool can_move_pages();

    /// \throws std::runtime_error where the kernel or these rights do not give it.
    explicit Userfault(std::uint64_t features);

    [[nodiscard]] int fd() const { return fd_.get(); }

    [[nodiscard]] int register_range(void* at, std::size_t bytes) const;

    struct Moved {
        int error = 0;
        std::size_t bytes = 0; ///< From the beginning on; all, where there is no error.
    };
    /// Pages change their place, and what waits for them goes on.
    ///
    /// \param holes whether pages may be missing.
    /// \returns ENOENT where a page is missing; EBUSY where the kernel or a child of a fork uses one; EINVAL
    ///     where the two places are not alike (mlock, mprotect); EAGAIN while an event is not read.
    [[nodiscard]] Moved move(void* to, void* from, std::size_t bytes, bool holes = false) const;
    /// New pages with the same content, and what waits for them goes on.
    ///
    /// \returns EEXIST where a page is there; EAGAIN while an event is not read.
    [[nodiscard]] Moved copy(void* to, const void* from, std::size_t bytes) const;
    /// Touching it ends in SIGBUS from now on. \returns EAGAIN while an event is not read.
    [[nodiscard]] Moved poison(void* at, std::size_t bytes) const;
    void wake(void* at, std::size_t bytes) const;

    /// What has happened: the first of `messages`, none where nothing has.
    [[nodiscard]] std::span<uffd_msg> read(std::span<uffd_msg> messages) const;

  private:
    Fd fd_;
    PagemapReader pagemap_;
};

} // namespace assay::tier
