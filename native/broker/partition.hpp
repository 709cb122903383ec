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

/// One hierarchy of control groups in which a partition has a folder.
struct Hierarchy {
    std::string controller; ///< As /proc/PID/cgroup names it; empty for version 2.
    std::string mount;      ///< Where it is mounted.
    std::string folder;     ///< Of the partition, below `mount`.
};

/// What may be shared out.
struct Partition {
    std::string name;
    std::vector<Hierarchy> hierarchies;
    std::vector<int> cpus;
    std::int64_t memory_bytes = 0; ///< 0: memory is not shared out.
    std::vector<int> gpus;
};

/// The document that whoever made the partition wrote.
///
/// Throws PartitionError: it cannot be read, or names a folder that is not below its mount.
Partition parse_partition(std::string_view text);

} // namespace assay::broker
