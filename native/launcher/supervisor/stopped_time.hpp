#pragma once

#include "common/clock.hpp"

namespace assay {

/// Accumulated time for which a program was stopped (SIGSTOP, SIGTSTP, SIGTTIN or SIGTTOU).
class StoppedTime {
  public:
    /// Record a state. Return whether it has changed.
    bool note(bool stopped, Nanos now) {
        if (stopped == this->stopped()) return false;
        if (stopped) {
            since_ = now;
            ++count_;
        } else {
            ended_ += now - since_;
            since_ = never;
        }
        return true;
    }

    [[nodiscard]] bool stopped() const { return since_ != never; }
    [[nodiscard]] int count() const { return count_; }
    [[nodiscard]] Nanos total(Nanos now) const { return ended_ + (stopped() ? now - since_ : 0); }

  private:
    Nanos ended_ = 0;
    Nanos since_ = never;
    int count_ = 0;
};

} // namespace assay
