#pragma once

#include "common/clock.hpp"

namespace assay {

/// Task that runs at intervals while the program runs.
class PeriodicTask {
  public:
    virtual ~PeriodicTask() = default;
    [[nodiscard]] virtual Nanos due() const = 0;
    virtual void run(Nanos now) = 0;
};

} // namespace assay
