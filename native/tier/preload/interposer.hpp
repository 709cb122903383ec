#pragma once

#include "tier/pager/arena.hpp"
#include "tier/preload/next_symbols.hpp"

#include <sys/types.h>

#include <atomic>
#include <cstddef>

namespace assay::tier {

class Advisor;

} // namespace assay::tier

namespace assay::tier::preload {

/// What this process does with memory; there is one, from its first allocation on.
class Interposer {
  public:
    [[nodiscard]] const NextSymbols& next() const { return next_; }
    [[nodiscard]] Arena* arena() const { return arena_.load(std::memory_order_acquire); }
    [[nodiscard]] bool manages(std::size_t bytes) const {
        return bytes >= threshold_ && arena() != nullptr && !in_child_;
    }
    [[nodiscard]] bool contains(const void* at) const {
        const Arena* const found = arena();
        return found != nullptr && found->contains(at);
    }
    /// As of the arena; a disk that is full is told once, for few programs say why they have no memory.
    [[nodiscard]] void* allocate(std::size_t bytes) { return report_full(arena()->allocate(bytes)); }
    [[nodiscard]] void* resize(void* at, std::size_t bytes) {
        return report_full(arena()->resize(at, bytes));
    }
    /// The descriptor that programs which are started from here find the DRAM of the run by: all that the
    /// program's table has of the tier. Closed, it is only not found. -1 where there is none.
    [[nodiscard]] int descriptor() const { return in_child_ ? -1 : descriptor_; }
    /// Whether a descriptor is that one, and not another file of its number, after a system call of the
    /// program's own has closed it.
    [[nodiscard]] bool owns(int fd) const;
    [[nodiscard]] bool is_in_child() const { return in_child_; }

    void start();
    void report() const;

  private:
    [[nodiscard]] void* report_full(void* found);
    void start_advisor();
    void start_pager();
    /// A child of a fork has no pager, and none of the memory that it would bring: a touch of it ends the
    /// child by SIGSEGV. What it takes anew is ordinary memory.
    void enter_child();

    NextSymbols next_;
    int descriptor_ = -1;
    ino_t inode_ = 0; ///< Of its file.
    std::atomic<Arena*> arena_ = nullptr;
    Advisor* advisor_ = nullptr;
    std::size_t threshold_ = std::size_t{64} << 20;
    bool in_child_ = false;
    std::atomic<bool> full_reported_ = false; ///< That a disk is has been told.
};

/// Constant-initialised, so that it is there before any constructor has run.
inline constinit Interposer the_interposer;

[[nodiscard]] inline Interposer& interposer() {
    return the_interposer;
}

/// Ends a child of a fork, which cannot go on without what its parent has.
[[noreturn]] void abort_forked();

} // namespace assay::tier::preload
