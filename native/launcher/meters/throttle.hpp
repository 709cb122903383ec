#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay {

/// Counts thermal throttling of cores and packages (thermal_throttle of sysfs; Intel).
class ThrottleMeter {
  public:
    /// Select every package of these CPUs, and at most 16 of their cores, because reading each file takes
    /// some microseconds at both ends of a launch.
    ThrottleMeter(const std::string& root, const std::vector<int>& cpus);

    void begin() { before_ = total(); }
    /// Return the number of events since `begin`; nothing if the machine does not count them.
    [[nodiscard]] std::optional<std::int64_t> end() const;

  private:
    [[nodiscard]] std::optional<std::int64_t> total() const;

    std::vector<std::string> files_;
    std::optional<std::int64_t> before_;
};

} // namespace assay
