#pragma once

#include <pthread.h>
#include <signal.h>

namespace assay::tier {

/// Of threads that are not the program's, as `top -H` and assay.tier.meter know them.
inline constexpr const char* thread_name = "assay-tier";

/// No signal arrives in this thread meanwhile: a handler may touch a region, and whoever holds what the pager
/// waits for must not wait for the pager.
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
