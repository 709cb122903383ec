#pragma once

#include "common/clock.hpp"
#include "common/fd.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace assay::tier {

/// DRAM that the processes of a run share: each takes of it what it needs while there is some, and gives up
/// what is beyond its share when another one wants more.
///
/// It is in memory without a name (memfd_create(2)), which a process hands to those that it starts by a place
/// below /proc. Who is there holds a lock on a byte of it (fcntl(2), F_SETLK), which the kernel takes back
/// from a process that ends in whatever way: what that one held, the others find. Nobody waits for a lock.
/// What somebody wants he writes to the file, where all others watch for it.
class Budget {
  public:
    /// The budget that another process handed on. \returns none where it cannot be reached, or is of other
    ///     `declared` bytes: of another run.
    [[nodiscard]] static std::optional<Budget> inherit(const char* handle, std::size_t declared);
    /// A new one. \param declared what a process must name as well to be handed it.
    /// \throws std::bad_alloc, std::system_error.
    Budget(std::size_t bytes, std::size_t declared);
    Budget(Budget&& other) noexcept;
    Budget& operator=(Budget&&) = delete;
    ~Budget();

    /// Return the argument of `handed` for processes that are started from here. \param thread number of the
    ///     thread that has the descriptor as well, in a table of its own.
    [[nodiscard]] std::string handle(int thread) const;
    [[nodiscard]] std::size_t bytes() const { return head_->bytes; }
    /// Its descriptor, of the same number in the program's table and in that of the thread that takes part.
    [[nodiscard]] int fd() const { return fd_.get(); }

    /// Takes part from now on, as long as the thread is there that calls it: the kernel knows who holds a
    /// lock by the table of descriptors, which is that thread's own (own_files). \param least bytes that it
    /// may have whatever the others have, for a process
    ///     that waits for another one must not keep it from going on. \returns false where too many do.
    [[nodiscard]] bool join(std::size_t min);
    /// How many others took part before this process did.
    [[nodiscard]] std::size_t joined_before() const { return joined_before_; }
    [[nodiscard]] bool take(std::size_t bytes);
    void release(std::size_t bytes);
    /// Finds what processes left behind that have ended, a few times a second. \returns whether there was
    ///     anything.
    bool collect();

    /// What can be taken just now.
    [[nodiscard]] std::size_t free_bytes() const;
    /// As much for each, where all want more than there is.
    [[nodiscard]] std::size_t fair_share_bytes() const;
    /// What this process may have for a while: its share, or more where it has more.
    [[nodiscard]] std::size_t limit_bytes() const;
    /// Readable when somebody has found too little, for those that take part; -1 where that cannot be had.
    [[nodiscard]] int wakeup_fd() const { return wakeup_fd_.get(); }
    void clear_wakeup() const;
    /// Whether somebody found too little, a short while ago, and there is no more now.
    [[nodiscard]] bool is_contended() const;
    /// What this process has beyond its share.
    [[nodiscard]] std::size_t surplus_bytes() const;

  private:
    /// As it lies in memory that is shared; all is zero at first but the two sizes.
    struct Head {
        std::size_t bytes, declared;
        std::atomic<std::int64_t> free;    ///< Below 0 where each has no more than its least.
        std::atomic<std::uint64_t> users;  ///< Places that are taken.
        std::atomic<std::uint64_t> joined; ///< All that ever took part.
        std::atomic<Nanos> requested_at;   ///< When somebody last found too little, by CLOCK_MONOTONIC.
        std::uint64_t doorbell;            ///< Written to be heard.
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

    static constexpr std::size_t max_users = 4096, no_slot = max_users;

    Fd fd_;
    Fd wakeup_fd_; ///< Of writes to the file: inotify(7).
    Head* head_ = nullptr;
    std::size_t slot_ = no_slot;
    std::size_t min_bytes_ = 0, joined_before_ = 0;
    Nanos collected_at_ = 0, notified_at_ = 0;
};

} // namespace assay::tier
