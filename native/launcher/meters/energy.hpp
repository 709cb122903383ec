#pragma once

#include "common/fd.hpp"
#include "launcher/supervisor/periodic_task.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay {

/// Energy of the processor packages by RAPL (Documentation/power/powercap; Intel, and AMD with the same
/// driver). It includes other processes and idle power.
class EnergyMeter final : public PeriodicTask {
  public:
    explicit EnergyMeter(const std::string& root);

    void begin();
    /// Read regularly, because the counter wraps around after minutes under load.
    [[nodiscard]] Nanos due() const override { return due_; }
    void run(Nanos now) override;
    void end() { add(); }

    [[nodiscard]] std::optional<double> joules() const;
    [[nodiscard]] const std::string& why_absent() const { return why_absent_; }

  private:
    struct Package {
        Fd counter; // in microjoules
        std::int64_t range = 0;
        std::int64_t last = 0;
    };

    void add();

    std::vector<Package> packages_;
    std::int64_t microjoules_ = 0;
    Nanos due_ = never;
    std::string why_absent_ = "this machine has no RAPL counter of a package (/sys/class/powercap)";
};

} // namespace assay
