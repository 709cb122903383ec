#pragma once

#include "common/clock.hpp"

namespace assay {

/// How long a program has been stopped (SIGSTOP and its like), added up.
class StoppedTime {
  public:
    /// Return whether this is news.
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
