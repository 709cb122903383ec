#pragma once

#include "tier/io/store.hpp"

#include <cstdint>
#include <memory>

namespace assay::tier {

/// Bytes between memory and their place in the store, within one chunk of it.
struct Transfer {
    bool write;
    std::uint64_t position;
    std::byte* memory;
    std::size_t bytes;
    std::uint64_t tag; ///< Whoever asked finds it again by this.
};

/// Transfers that go on while the pager does other things.
class Disk {
  public:
    Disk() = default;
    Disk(const Disk&) = delete;
    Disk& operator=(const Disk&) = delete;
    virtual ~Disk() = default;

    /// Queues one. \returns false where there is no room before others have ended.
    [[nodiscard]] virtual bool start(const Transfer& transfer) = 0;
    /// Begins what was queued.
    virtual void submit() = 0;
    /// Whether some of them could not be begun, and `begin` is to be called again.
    [[nodiscard]] virtual bool is_behind() const { return false; }
    /// Readable when a transfer may have ended.
    [[nodiscard]] virtual int ready() const = 0;

    struct Completed {
        Transfer transfer;
        int error; ///< errno, 0 where all bytes were transferred.
    };
    /// One that has ended, as long as there is one.
    [[nodiscard]] virtual bool next(Completed& ended) = 0;
};

/// Why there is no io_uring: errno, 0 where there is.
[[nodiscard]] int uring_error();

/// By io_uring. \throws std::system_error where the kernel refuses it (kernel.io_uring_disabled, seccomp).
std::unique_ptr<Disk> uring_disk(const Store& store, unsigned depth);

/// By threads with pread(2) and pwrite(2), for kernels without io_uring.
std::unique_ptr<Disk> threads_disk(const Store& store, unsigned depth, unsigned threads);

/// By io_uring, or by threads where there is none.
std::unique_ptr<Disk> any_disk(const Store& store, unsigned depth);

} // namespace assay::tier
