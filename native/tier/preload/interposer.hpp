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

/// State of the preload library: one object in each process, valid from its first allocation on.
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
    /// Allocate or resize in the arena. A full disk is reported once, because few programs explain a lack of
    /// memory.
    [[nodiscard]] void* allocate(std::size_t bytes) { return report_full(arena()->allocate(bytes)); }
    [[nodiscard]] void* resize(void* at, std::size_t bytes) {
        return report_full(arena()->resize(at, bytes));
    }
    /// Return the descriptor through which child processes find the DRAM budget, the only one of the tier in
    /// the program's table; -1 if there is none. Closing it only makes children start a budget of their own.
    [[nodiscard]] int descriptor() const { return in_child_ ? -1 : descriptor_; }
    /// Return true for that descriptor, unless a direct system call has closed it and another file reuses its
    /// number.
    [[nodiscard]] bool owns(int fd) const;
    [[nodiscard]] bool is_in_child() const { return in_child_; }

    void start();
    void report() const;

  private:
    [[nodiscard]] void* report_full(void* found);
    void start_advisor();
    void start_pager();
    /// Prepare a child process. It has neither a pager nor the managed memory: an access terminates it by
    /// SIGSEGV. Its new allocations are ordinary memory.
    void enter_child();

    NextSymbols next_;
    int descriptor_ = -1;
    ino_t inode_ = 0; ///< Inode of the descriptor's file.
    std::atomic<Arena*> arena_ = nullptr;
    Advisor* advisor_ = nullptr;
    std::size_t threshold_ = std::size_t{64} << 20;
    bool in_child_ = false;
    std::atomic<bool> full_reported_ = false; ///< A full disk was reported.
};

/// Constant-initialised, so that it is valid before any constructor.
inline constinit Interposer the_interposer;

[[nodiscard]] inline Interposer& interposer() {
    return the_interposer;
}

/// Abort a child process that needs managed memory of its parent.
[[noreturn]] void abort_forked();

} // namespace assay::tier::preload
