#pragma once

#include "broker/partition.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace assay::broker {

/// Share of a partition.
struct Share {
    std::vector<int> cpus;
    std::int64_t memory_bytes = 0;
    std::vector<int> gpus;
};

/// Reason for refusing a share.
struct Refusal {
    /// `unknown`: not part of the partition; `busy`: in another share; `empty`: no CPU requested. Empty text:
    /// not refused.
    std::string error;
    std::string resource; ///< `cpus`, `memory_bytes` or `gpus`.
    std::string detail;   ///< The refused items.
};

/// Assigns the resources of a partition to shares. No resource is ever in two shares.
class Allocator {
  public:
    explicit Allocator(const Partition& partition);

    /// Reserve a share. If the refusal has an error, nothing is reserved.
    Refusal reserve(int lease, const Share& share);

    void release(int lease);

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
