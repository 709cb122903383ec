#include "broker/allocator.hpp"

#include "common/cpulist.hpp"

#include <algorithm>

namespace assay::broker {

namespace {

std::vector<int> not_in(const std::vector<int>& wanted, const std::set<int>& known) {
    std::vector<int> found;
    std::copy_if(wanted.begin(), wanted.end(), std::back_inserter(found),
                 [&](int one) { return !known.contains(one); });
    return found;
}

Refusal check(const char* resource, const std::vector<int>& wanted, const std::set<int>& all,
              const std::set<int>& free) {
    if (const auto foreign = not_in(wanted, all); !foreign.empty())
        return {"unknown", resource, format_cpulist(foreign)};
    if (const auto taken = not_in(wanted, free); !taken.empty())
        return {"busy", resource, format_cpulist(taken)};
    return {};
}

} // namespace

Allocator::Allocator(const Partition& partition)
    : all_cpus_(partition.cpus.begin(), partition.cpus.end()),
      all_gpus_(partition.gpus.begin(), partition.gpus.end()), all_bytes_(partition.memory_bytes),
      cpus_(all_cpus_), gpus_(all_gpus_), bytes_(all_bytes_) {}

Refusal Allocator::reserve(int lease, const Share& share) {
    if (share.cpus.empty()) return {"empty", "cpus", ""};
    if (auto refusal = check("cpus", share.cpus, all_cpus_, cpus_); !refusal.error.empty()) return refusal;
    if (auto refusal = check("gpus", share.gpus, all_gpus_, gpus_); !refusal.error.empty()) return refusal;
    if (share.memory_bytes > all_bytes_) return {"unknown", "memory_bytes", std::to_string(all_bytes_)};
    if (share.memory_bytes > bytes_) return {"busy", "memory_bytes", std::to_string(bytes_)};
    shares_.emplace(lease, share); // first, so that a failed allocation of memory changes nothing
    for (const int cpu : share.cpus) cpus_.erase(cpu);
    for (const int gpu : share.gpus) gpus_.erase(gpu);
    bytes_ -= share.memory_bytes;
    return {};
}

void Allocator::release(int lease) {
    const auto found = shares_.find(lease);
    if (found == shares_.end()) return;
    cpus_.insert(found->second.cpus.begin(), found->second.cpus.end());
    gpus_.insert(found->second.gpus.begin(), found->second.gpus.end());
    bytes_ += found->second.memory_bytes;
    shares_.erase(found);
}

} // namespace assay::broker
