#pragma once

#include "tier/io/store.hpp"

#include <cstdint>
#include <memory>

namespace assay::tier {

/// Transfer between memory and the store, within one chunk.
struct Transfer {
    bool write;
    std::uint64_t position;
    std::byte* memory;
    std::size_t bytes;
    std::uint64_t tag; ///< Identifies the transfer to the caller.
};

/// Asynchronous transfers.
class Disk {
  public:
    Disk() = default;
    Disk(const Disk&) = delete;
    Disk& operator=(const Disk&) = delete;
    virtual ~Disk() = default;

    /// Queue a transfer. \returns false if the queue is full.
    [[nodiscard]] virtual bool start(const Transfer& transfer) = 0;
    /// Submit queued transfers.
    virtual void submit() = 0;
    /// Return true if some transfers could not be submitted and `submit` must be called again.
    [[nodiscard]] virtual bool is_behind() const { return false; }
    /// Return a descriptor that is readable when a transfer may have completed.
    [[nodiscard]] virtual int ready() const = 0;

    struct Completed {
        Transfer transfer;
        int error; ///< Error number; 0 if all bytes were transferred.
    };
    /// Take a completed transfer. \returns false if none is left.
    [[nodiscard]] virtual bool next(Completed& ended) = 0;
};

/// Return the error number of io_uring; 0 if it is available.
[[nodiscard]] int uring_error();

/// Create a disk on io_uring. \throws std::system_error if the kernel refuses it (kernel.io_uring_disabled,
/// seccomp).
std::unique_ptr<Disk> uring_disk(const Store& store, unsigned depth);

/// Create a disk on threads with pread(2) and pwrite(2), for kernels without io_uring.
std::unique_ptr<Disk> threads_disk(const Store& store, unsigned depth, unsigned threads);

/// Create a disk on io_uring, or on threads without it.
std::unique_ptr<Disk> any_disk(const Store& store, unsigned depth);

} // namespace assay::tier
