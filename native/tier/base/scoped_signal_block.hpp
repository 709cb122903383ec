#pragma once

#include <pthread.h>
#include <signal.h>

namespace assay::tier {

/// Name of the tier's own threads in `top -H` and assay.tier.meter.
inline constexpr const char* thread_name = "assay-tier";

/// Blocks all signals in this thread for the lifetime of the object. A signal handler may access a region,
/// and a thread that holds a lock of the pager must not wait for the pager.
class ScopedSignalBlock {
  public:
    ScopedSignalBlock() {
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ScopedSignalBlock(const ScopedSignalBlock&) = delete;
    ScopedSignalBlock& operator=(const ScopedSignalBlock&) = delete;
    ~ScopedSignalBlock() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  private:
    sigset_t before_{};
};

} // namespace assay::tier
