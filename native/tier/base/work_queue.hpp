#pragma once

#include "tier/base/scoped_signal_block.hpp"

#include <atomic>
#include <mutex>
#include <utility>

namespace assay::tier {

/// Work that threads of the program hand to one thread, and wait for; in the order in which it came.
///
/// Nothing is allocated: who hands something over may be within an allocation.
class WorkQueue {
  public:
    /// Has the other thread do something. \param wake makes it look here.
    template <class Work, class Wake>
    void run(Work work, Wake wake) {
        // A handler of a signal may touch memory that the other thread fetches, with the lock held here.
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
    /// Does all that there is, in the thread that calls it. \returns whether there was any.
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
        std::atomic<int> done = 0; ///< 1: the waiting thread may go on, and the errand is gone then.
    };

    std::mutex lock_;
    Item* first_ = nullptr;
    Item* last_ = nullptr;
};

} // namespace assay::tier
