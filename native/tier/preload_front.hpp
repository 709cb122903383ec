#pragma once

#include "tier/arena.hpp"
#include "tier/own_descriptors.hpp"
#include "tier/preload_next.hpp"

#include <atomic>
#include <cstddef>

namespace assay::tier {

class Advisor;

} // namespace assay::tier

namespace assay::tier::preload {

/// What this process does with memory; there is one, from its first allocation on.
class Front {
  public:
    [[nodiscard]] const Next& next() const { return next_; }
    [[nodiscard]] Arena* arena() const { return arena_.load(std::memory_order_acquire); }
    [[nodiscard]] bool takes(std::size_t bytes) const {
        return bytes >= threshold_ && arena() != nullptr && !in_child_;
    }
    [[nodiscard]] bool holds(const void* at) const {
        const Arena* const found = arena();
        return found != nullptr && found->holds(at);
    }
    /// As of the arena; a disk that is full is told once, for few programs say why they have no memory.
    [[nodiscard]] void* allocate(std::size_t bytes) { return told(arena()->allocate(bytes)); }
    [[nodiscard]] void* resize(void* at, std::size_t bytes) { return told(arena()->resize(at, bytes)); }
    /// Whether a descriptor is the pager's.
    [[nodiscard]] bool owns(int fd) const { return !in_child_ && own_.owns(fd); }
    /// The first that is the pager's, or -1.
    [[nodiscard]] int own_between(unsigned first, unsigned last) const {
        return in_child_ ? -1 : own_.between(first, last);
    }
    [[nodiscard]] bool is_in_child() const { return in_child_; }

    void start();
    void report() const;

  private:
    [[nodiscard]] void* told(void* found);
    void start_advisor();
    void start_pager();
    /// A child of a fork has no pager, and none of the memory that it would bring: a touch of it ends the
    /// child by SIGSEGV. What it takes anew is ordinary memory.
    void in_child();

    Next next_;
    OwnDescriptors own_;
    std::atomic<Arena*> arena_ = nullptr;
    Advisor* advisor_ = nullptr;
    std::size_t threshold_ = std::size_t{64} << 20;
    bool in_child_ = false;
    std::atomic<bool> full_ = false; ///< That a disk is has been told.
};

/// Constant-initialised, so that it is there before any constructor has run.
inline constinit Front the_front;

[[nodiscard]] inline Front& front() {
    return the_front;
}

/// Ends a child of a fork, which cannot go on without what its parent has.
[[noreturn]] void say_forked();

} // namespace assay::tier::preload
