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

/// What a pager has to work with.
struct PagerConfig {
    std::vector<std::string> paths; ///< Directories for what does not fit.
    std::size_t memory_bytes = 0;   ///< DRAM for all regions together.
    std::size_t chunk_bytes = std::size_t{2} << 20;
    std::size_t part_bytes = std::size_t{64} << 10; ///< Of chunks of which little is used at a time.
    std::size_t min_bytes = page;                   ///< That are brought at a time, of parts likewise.
    std::optional<std::uint64_t> keep_free = {}; ///< Bytes of each file system; as Store has it, if absent.
    std::size_t address_bytes = std::size_t{1} << 42; ///< Of all regions, at most.
    unsigned depth = 64;                              ///< Transfers at a time.
    std::string trace_folder = {};            ///< What is touched is recorded there, where one is named.
    std::string replay_folder = {};           ///< It is touched as was recorded there, where one is named.
    std::optional<MapMethod> map_method = {}; ///< The best that there is, where none is named.
    std::optional<NumaPolicy> numa =
        {};                      ///< Where frames come from; as Placement has it, where none is named.
    std::optional<int> cpu = {}; ///< Whose node frames come from at first; that of who makes the pager.
    std::string root = {};       ///< Below which sysfs and procfs tell of nodes.
    Budget* budget = nullptr;    ///< That other processes share; `memory_bytes` are all that it has.
    /// Makes the disk; by io_uring, or by threads where there is none.
    std::function<std::unique_ptr<Disk>(const Store&, unsigned depth)> disk = {};
};

} // namespace assay::tier
