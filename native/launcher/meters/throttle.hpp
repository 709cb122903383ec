#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay {

/// Counts how often cores and packages were slowed down for their heat (thermal_throttle of sysfs; Intel).
class ThrottleMeter {
  public:
    /// Of the packages that these CPUs are in, each once, and of the cores of at most 16 of them: each file
    /// takes some microseconds at both ends of a launch.
    ThrottleMeter(const std::string& root, const std::vector<int>& cpus);

    void begin() { before_ = total(); }
    /// Events since then; nothing where the machine does not count them.
    [[nodiscard]] std::optional<std::int64_t> end() const;

  private:
    [[nodiscard]] std::optional<std::int64_t> total() const;

    std::vector<std::string> files_;
    std::optional<std::int64_t> before_;
};

} // namespace assay
