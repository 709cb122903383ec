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
    [[nodiscard]] static std::optional<Budget> handed(const char* name, std::size_t declared);
    /// A new one. \param declared what a process must name as well to be handed it.
    /// \throws std::bad_alloc, std::system_error.
    Budget(std::size_t bytes, std::size_t declared);
    Budget(Budget&& other) noexcept;
    Budget& operator=(Budget&&) = delete;
    ~Budget();

    /// Return the argument of `handed` for processes that are started from here. \param thread number of the
    ///     thread that has the descriptor as well, in a table of its own.
    [[nodiscard]] std::string name(int thread) const;
    [[nodiscard]] std::size_t bytes() const { return head_->bytes; }
    /// Its descriptor, of the same number in the program's table and in that of the thread that takes part.
    [[nodiscard]] int file() const { return file_.get(); }

    /// Takes part from now on, as long as the thread is there that calls it: the kernel knows who holds a
    /// lock by the table of descriptors, which is that thread's own (own_files). \param least bytes that it
    /// may have whatever the others have, for a process
    ///     that waits for another one must not keep it from going on. \returns false where too many do.
    [[nodiscard]] bool join(std::size_t least);
    /// How many others took part before this process did.
    [[nodiscard]] std::size_t before() const { return before_; }
    [[nodiscard]] bool take(std::size_t bytes);
    void give(std::size_t bytes);
    /// Finds what processes left behind that have ended, a few times a second. \returns whether there was
    ///     anything.
    bool collect();

    /// What can be taken just now.
    [[nodiscard]] std::size_t left_bytes() const;
    /// As much for each, where all want more than there is.
    [[nodiscard]] std::size_t share_bytes() const;
    /// What this process may have for a while: its share, or more where it has more.
    [[nodiscard]] std::size_t limit_bytes() const;
    /// Readable when somebody has found too little, for those that take part; -1 where that cannot be had.
    [[nodiscard]] int news() const { return news_.get(); }
    void clear_news() const;
    /// Whether somebody found too little, a short while ago, and there is no more now.
    [[nodiscard]] bool is_wanted() const;
    /// What this process has beyond its share.
    [[nodiscard]] std::size_t surplus_bytes() const;

  private:
    /// As it lies in memory that is shared; all is zero at first but the two sizes.
    struct Head {
        std::size_t bytes, declared;
        std::atomic<std::int64_t> left;    ///< Below 0 where each has no more than its least.
        std::atomic<std::uint64_t> users;  ///< Places that are taken.
        std::atomic<std::uint64_t> joined; ///< All that ever took part.
        std::atomic<Nanos> wanted_at;      ///< When somebody last found too little, by CLOCK_MONOTONIC.
        std::uint64_t bell;                ///< Written to be heard.
    };

    struct Place {
        std::atomic<std::uint64_t> taken; ///< 1 or 0.
        std::atomic<std::int64_t> held;
    };

    explicit Budget(Fd file);
    bool map();
    [[nodiscard]] Place& place(std::size_t number) const;
    [[nodiscard]] bool lock(std::size_t number) const;
    void unlock(std::size_t number) const;
    void clear(Place& one);
    void want();
    [[nodiscard]] Fd listening() const;

    static constexpr std::size_t most_users = 4096, nowhere = most_users;

    Fd file_;
    Fd news_; ///< Of writes to the file: inotify(7).
    Head* head_ = nullptr;
    std::size_t own_ = nowhere;
    std::size_t least_ = 0, before_ = 0;
    Nanos collected_ = 0, told_ = 0;
};

} // namespace assay::tier
