#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay {

/// APERF over MPERF of at most 16 whole CPUs, from their model-specific registers (/dev/cpu/N/msr, read
/// only). Used if no perf event provides the ratio for the tree alone. Each reading interrupts its CPU.
class FrequencyMeter {
  public:
    FrequencyMeter(const std::string& root, const std::vector<int>& cpus);

    void begin() { before_ = total(); }
    [[nodiscard]] std::optional<double> ratio() const;

  private:
    struct Registers {
        std::uint64_t aperf = 0;
        std::uint64_t mperf = 0;
    };

    /// Return the sums over the CPUs, modulo 2^64 like the registers themselves.
    [[nodiscard]] std::optional<Registers> total() const;

    const std::string& root_;
    std::vector<int> cpus_;
    std::optional<Registers> before_;
};

} // namespace assay
