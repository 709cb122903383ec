#include "tier/base/error_text.hpp"
#include "tier/base/export.hpp"
#include "tier/base/paths.hpp"
#include "tier/pager/arena.hpp"
#include "tier/tier.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

struct assay_tier {
    explicit assay_tier(const assay::tier::PagerConfig& config) : arena(config) {}
    /// Return true in a child process, which has neither the pager thread nor its memory.
    [[nodiscard]] bool is_in_child() const { return ::getpid() != owner; }
    pid_t owner = ::getpid();
    assay::tier::Arena arena;
};

namespace {

/// Registry of open tiers. A child process closes their address ranges, so that no later mapping can be
/// mistaken for data of the parent.
class OpenTiers {
  public:
    OpenTiers() {
        ::pthread_atfork([] { instance().lock_.lock(); }, [] { instance().lock_.unlock(); },
                         [] {
                             for (const assay_tier* const one : instance().all_) one->arena.close_in_child();
                             instance().lock_.unlock();
                         });
    }
    void add(assay_tier* one) {
        const std::lock_guard lock(lock_);
        all_.push_back(one);
    }
    void remove(assay_tier* one) {
        const std::lock_guard lock(lock_);
        std::erase(all_, one);
    }
    [[nodiscard]] static OpenTiers& instance() {
        static OpenTiers one;
        return one;
    }

  private:
    std::mutex lock_;
    std::vector<assay_tier*> all_;
};

void copy_message(std::string_view what, char* problem, std::size_t room) {
    if (room == 0) return;
    const std::size_t length = what.copy(problem, room - 1);
    problem[length] = '\0';
}

} // namespace

ASSAY_TIER_EXPORT assay_tier* assay_tier_open(const char* paths, uint64_t dram_bytes, uint64_t chunk_bytes,
                                              char* problem, size_t room) {
    try {
        auto tier =
            std::make_unique<assay_tier>(assay::tier::PagerConfig{.paths = assay::tier::split_paths(paths),
                                                                  .memory_bytes = dram_bytes,
                                                                  .chunk_bytes = chunk_bytes});
        OpenTiers::instance().add(tier.get());
        return tier.release();
    } catch (const std::exception& error) {
        copy_message(assay::tier::error_text(error), problem, room);
        return nullptr;
    }
}

ASSAY_TIER_EXPORT void assay_tier_close(assay_tier* tier) {
    if (tier->is_in_child()) return;
    OpenTiers::instance().remove(tier);
    delete tier;
}

ASSAY_TIER_EXPORT void* assay_tier_allocate(assay_tier* tier, uint64_t bytes) {
    if (!tier->is_in_child()) return tier->arena.allocate(bytes);
    errno = ENOMEM;
    return nullptr;
}

ASSAY_TIER_EXPORT void assay_tier_free(assay_tier* tier, void* at) {
    if (!tier->is_in_child()) tier->arena.free(at);
}

ASSAY_TIER_EXPORT void assay_tier_prefetch(assay_tier* tier, void* at, uint64_t bytes) {
    assay_tier_prefetch_rows(tier, at, bytes, bytes, 1);
}

ASSAY_TIER_EXPORT void assay_tier_prefetch_rows(assay_tier* tier, void* at, uint64_t bytes, uint64_t stride,
                                                uint64_t rows) {
    if (!tier->is_in_child()) tier->arena.prefetch(at, bytes, stride, rows);
}

ASSAY_TIER_EXPORT void assay_tier_advise(assay_tier* tier, void* at, uint64_t bytes,
                                         assay_tier_pattern pattern) {
    using assay::tier::AccessPattern;
    if (tier->is_in_child()) return;
    tier->arena.advise(at, bytes,
                       pattern == ASSAY_TIER_SEQUENTIAL ? AccessPattern::sequential
                       : pattern == ASSAY_TIER_RANDOM   ? AccessPattern::random
                                                        : AccessPattern::unknown);
}

ASSAY_TIER_EXPORT void assay_tier_evict(assay_tier* tier, void* at, uint64_t bytes) {
    if (!tier->is_in_child()) tier->arena.evict(at, bytes);
}

ASSAY_TIER_EXPORT void assay_tier_discard(assay_tier* tier, void* at, uint64_t bytes) {
    if (bytes > 0 && !tier->is_in_child()) tier->arena.discard(at, bytes);
}

ASSAY_TIER_EXPORT void assay_tier_count(assay_tier* tier, assay_tier_counts* counts) {
    const assay::tier::Counts c = tier->is_in_child() ? assay::tier::Counts{} : tier->arena.counts();
    *counts = {c.zero_fill_faults,   c.demand_faults,     c.in_flight_faults, c.prefetch_hits,
               c.second_chance_hits, c.unused_prefetches, c.clean_evictions,  c.read_bytes,
               c.written_bytes,      c.stall_ns};
}
