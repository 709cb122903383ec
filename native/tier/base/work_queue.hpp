#pragma once

#include "tier/base/scoped_signal_block.hpp"

#include <atomic>
#include <mutex>
#include <utility>

namespace assay::tier {

/// FIFO queue of work that program threads hand to the pager thread and wait for.
///
/// It never allocates memory, because the caller may be inside an allocation.
class WorkQueue {
  public:
    /// Execute work on the other thread and wait for its end. \param wake wakes the other thread.
    template <class Work, class Wake>
    void run(Work work, Wake wake) {
        // A signal handler may access memory that the other thread has to fetch, while this thread holds the
        // lock.
        const ScopedSignalBlock block_signals;
        Item one{[](void* argument) { (*static_cast<Work*>(argument))(); }, &work};
        {
            const std::lock_guard lock(lock_);
            (last_ == nullptr ? first_ : last_->next) = &one;
            last_ = &one;
        }
        wake();
        one.done.wait(0);
    }
    /// Execute all queued work on the calling thread. \returns true if there was any.
    bool serve() {
        Item* next = nullptr;
        {
            const std::lock_guard lock(lock_);
            next = std::exchange(first_, nullptr);
            last_ = nullptr;
        }
        const bool any = next != nullptr;
        while (next != nullptr) {
            Item& one = *std::exchange(next, next->next);
            one.work(one.argument);
            one.done.store(1);
            one.done.notify_one();
        }
        return any;
    }

  private:
    struct Item {
        void (*work)(void*);
        void* argument;
        Item* next = nullptr;
        std::atomic<int> done = 0; ///< 1: the caller may continue, and the item becomes invalid.
    };

    std::mutex lock_;
    Item* first_ = nullptr;
    Item* last_ = nullptr;
};

} // namespace assay::tier
