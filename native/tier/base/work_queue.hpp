#pragma once

#include "tier/base/scoped_signal_block.hpp"

#include <atomic>
#include <mutex>
#include <utility>

namespace assay::tier {

/// Work that threads of the program hand to one thread, and wait for; in the order in which it came.
///
/// Nothing is allocated: who hands something over may be within an allocation.
class Errands {
  public:
    /// Has the other thread do something. \param wake makes it look here.
    template <class Work, class Wake>
    void run(Work work, Wake wake) {
        // A handler of a signal may touch memory that the other thread fetches, with the lock held here.
        const Quiet quiet;
        Errand one{[](void* of) { (*static_cast<Work*>(of))(); }, &work};
        {
            const std::lock_guard lock(lock_);
            (last_ == nullptr ? first_ : last_->next) = &one;
            last_ = &one;
        }
        wake();
        one.over.wait(0);
    }
    /// Does all that there is, in the thread that calls it. \returns whether there was any.
    bool serve() {
        Errand* next = nullptr;
        {
            const std::lock_guard lock(lock_);
            next = std::exchange(first_, nullptr);
            last_ = nullptr;
        }
        const bool any = next != nullptr;
        while (next != nullptr) {
            Errand& one = *std::exchange(next, next->next);
            one.work(one.of);
            one.over.store(1);
            one.over.notify_one();
        }
        return any;
    }

  private:
    struct Errand {
        void (*work)(void*);
        void* of;
        Errand* next = nullptr;
        std::atomic<int> over = 0; ///< 1: the waiting thread may go on, and the errand is gone then.
    };

    std::mutex lock_;
    Errand* first_ = nullptr;
    Errand* last_ = nullptr;
};

} // namespace assay::tier
