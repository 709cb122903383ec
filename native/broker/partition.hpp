#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace assay::broker {

class PartitionError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Control group hierarchy in which a partition has a folder.
struct Hierarchy {
    std::string controller; ///< As in /proc/PID/cgroup; empty for v2.
    std::string mount;      ///< Mount point.
    std::string folder;     ///< Folder of the partition, below `mount`.
};

/// Resources of a partition.
struct Partition {
    std::string name;
    std::vector<Hierarchy> hierarchies;
    std::vector<int> cpus;
    std::int64_t memory_bytes = 0; ///< 0: memory is not divided.
    std::vector<int> gpus;
};

/// Parse the document that the creator of the partition wrote.
///
/// Throws PartitionError if it is invalid or names a folder outside its mount.
Partition parse_partition(std::string_view text);

} // namespace assay::broker
