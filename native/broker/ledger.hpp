#pragma once

#include "broker/partition.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace assay::broker {

/// A part of a partition.
struct Share {
    std::vector<int> cpus;
    std::int64_t memory_bytes = 0;
    std::vector<int> gpus;
};

/// Why a share is not to be had.
struct Refusal {
    std::string
        kind; ///< `unknown`: not of the partition; `busy`: somebody has it; `empty`: no CPU asked for.
    std::string what;  ///< `cpus`, `memory_bytes` or `gpus`.
    std::string which; ///< Of them.
};

/// Who has what. Nothing is ever in two shares.
class Ledger {
  public:
    explicit Ledger(const Partition& partition);

    /// Enters a share; nothing is entered where the refusal has a kind.
    Refusal take(int lease, const Share& share);

    void give_back(int lease);

    [[nodiscard]] const std::set<int>& free_cpus() const { return cpus_; }
    [[nodiscard]] const std::set<int>& free_gpus() const { return gpus_; }
    [[nodiscard]] std::int64_t free_bytes() const { return bytes_; }
    [[nodiscard]] const std::map<int, Share>& shares() const { return shares_; }

  private:
    std::set<int> all_cpus_;
    std::set<int> all_gpus_;
    std::int64_t all_bytes_;
    std::set<int> cpus_;
    std::set<int> gpus_;
    std::int64_t bytes_;
    std::map<int, Share> shares_;
};

} // namespace assay::broker
