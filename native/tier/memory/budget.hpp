#pragma once

#include "common/clock.hpp"
#include "common/fd.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace assay::tier {

/// DRAM budget that the processes of a run share. Each process takes memory on demand while some is free, and
/// gives up memory beyond its fair share when another process requests it.
///
/// The state lies in an anonymous file (memfd_create(2)), which child processes find through a path below
/// /proc. Each member locks one byte of it (fcntl(2), F_SETLK). The kernel releases the lock of a process
/// that ends for any reason, and the other members recover its memory. No operation blocks on a lock. A
/// member requests memory by writing to the file, which all others watch.
class Budget {
  public:
    /// Open the budget of the parent process. \returns nothing if it is unreachable, or if it belongs to
    /// another run with other `declared` bytes.
    [[nodiscard]] static std::optional<Budget> inherit(const char* handle, std::size_t declared);
    /// Create a budget. \param declared bytes that a process must declare as well to inherit it.
    /// \throws std::bad_alloc, std::system_error.
    Budget(std::size_t bytes, std::size_t declared);
    Budget(Budget&& other) noexcept;
    Budget& operator=(Budget&&) = delete;
    ~Budget();

    /// Return the argument of `inherit` for child processes. \param thread thread that holds the same
    /// descriptor in a table of its own.
    [[nodiscard]] std::string handle(int thread) const;
    [[nodiscard]] std::size_t bytes() const { return head_->bytes; }
    /// Return the descriptor, whose number is the same in the tables of the program and of the member thread.
    [[nodiscard]] int fd() const { return fd_.get(); }

    /// Join the budget for the lifetime of the calling thread: the kernel identifies the owner of a lock by
    /// the descriptor table, which is private to that thread (unshare_descriptors).
    ///
    /// \param min bytes granted in any case, so that a process can proceed while another one waits for it.
    /// \returns false if the maximum number of members is reached.
    [[nodiscard]] bool join(std::size_t min);
    /// Return the number of members that joined earlier.
    [[nodiscard]] std::size_t joined_before() const { return joined_before_; }
    [[nodiscard]] bool take(std::size_t bytes);
    void release(std::size_t bytes);
    /// Recover the memory of ended processes, a few times per second at most. \returns true if there was any.
    bool recover();

    /// Return the free bytes.
    [[nodiscard]] std::size_t free_bytes() const;
    /// Return the bytes for each member if all of them request more than there is.
    [[nodiscard]] std::size_t fair_share_bytes() const;
    /// Return the present limit of this process: its fair share, or its holdings if they are larger.
    [[nodiscard]] std::size_t limit_bytes() const;
    /// Return a descriptor that is readable after a member requested memory; -1 if not available.
    [[nodiscard]] int wakeup_fd() const { return wakeup_fd_.get(); }
    void clear_wakeup() const;
    /// Return true if a member requested memory recently and none is free.
    [[nodiscard]] bool is_contended() const;
    /// Return the holdings of this process beyond its fair share.
    [[nodiscard]] std::size_t surplus_bytes() const;

  private:
    /// Layout of the shared memory; all fields but the two sizes start at zero.
    struct Header {
        std::size_t bytes, declared;
        std::atomic<std::int64_t> free;     ///< Negative if members hold their guaranteed minimum only.
        std::atomic<std::uint64_t> members; ///< Slots in use.
        std::atomic<std::uint64_t> joined;  ///< Number of members that ever joined.
        std::atomic<Nanos> requested_at;    ///< Time of the last request, by CLOCK_MONOTONIC.
        std::uint64_t notification;         ///< Written to notify the other members.
    };

    struct Slot {
        std::atomic<std::uint64_t> in_use; ///< 1 or 0.
        std::atomic<std::int64_t> held;
    };

    explicit Budget(Fd fd);
    bool map();
    [[nodiscard]] Slot& slot(std::size_t number) const;
    [[nodiscard]] bool lock(std::size_t number) const;
    void unlock(std::size_t number) const;
    void clear(Slot& one);
    void request();
    [[nodiscard]] Fd watch_file() const;

    static constexpr std::size_t max_members = 4096, no_slot = max_members;

    Fd fd_;
    Fd wakeup_fd_; ///< Watches writes to the file: inotify(7).
    Header* head_ = nullptr;
    std::size_t slot_ = no_slot;
    std::size_t min_bytes_ = 0, joined_before_ = 0;
    Nanos recovered_at_ = 0, notified_at_ = 0;
};

} // namespace assay::tier
