#pragma once

#include "tier/fault/userfault.hpp"
#include "tier/io/disk.hpp"
#include "tier/memory/budget.hpp"
#include "tier/memory/chunk_sizes.hpp"
#include "tier/numa/placement.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace assay::tier {

/// Configuration of a pager.
struct PagerConfig {
    std::vector<std::string> paths; ///< Directories of the backing store.
    std::size_t memory_bytes = 0;   ///< DRAM of all regions together.
    std::size_t chunk_bytes = std::size_t{2} << 20;
    std::size_t part_bytes = std::size_t{64} << 10; ///< Size of the parts of sparsely used chunks.
    std::size_t min_bytes = page;                   ///< Smallest fetch, also for parts.
    /// Reserve of each file system, in bytes (default: see Store).
    std::optional<std::uint64_t> keep_free = {};
    std::size_t address_bytes = std::size_t{1} << 42; ///< Address space of all regions.
    unsigned depth = 64;                              ///< Transfers in flight at a time.
    std::string trace_folder = {};                    ///< Directory to record traces in; empty: none.
    std::string replay_folder = {};                   ///< Directory to read traces from; empty: none.
    std::optional<MapMethod> map_method = {};         ///< Default: the best supported method.
    std::optional<NumaPolicy> numa = {};              ///< Default: see Placement.
    std::optional<int> cpu = {}; ///< CPU of the home node (default: that of the creating thread).
    std::string root = {};       ///< Directory below which sysfs and procfs are mounted.
    Budget* budget = nullptr;    ///< Shared budget; `memory_bytes` is its size.
    /// Creates the disk (default: io_uring, or threads without it).
    std::function<std::unique_ptr<Disk>(const Store&, unsigned depth)> disk = {};
};

} // namespace assay::tier
