#pragma once

#include "common/fd.hpp"
#include "launcher/containment/containment.hpp"
#include "launcher/supervisor/periodic_task.hpp"
#include "launcher/supervisor/shared_state.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace assay {

/// Kernel accounting of the memory of a tree that has ended.
struct FinalMemory {
    std::optional<std::int64_t> charged;  // peak charge to the control group
    std::optional<std::int64_t> resident; // peak of the largest process, file pages included
    bool single = false;                  // the tree had one process only
};

/// Source of a peak.
enum class PeakSource { samples, charge, resident };

/// Peak of anonymous plus shared memory of a tree.
struct MemoryPeak {
    std::int64_t bytes = 0;
    PeakSource source = PeakSource::samples;
    std::optional<std::int64_t>
        at_most; // upper bound, if the peak may have been clearly higher between samples
};

/// Samples anonymous plus shared memory of the tree and keeps the maximum. The first sample follows after 1
/// ms, so that short programs have one. The interval then grows up to `max_interval`. All samples together
/// take at most the given share of the time.
class MemorySampler final : public PeriodicTask {
  public:
    MemorySampler(Containment& containment, const SharedState& shared, pid_t program, Nanos start,
                  Nanos max_interval, double time_share);

    [[nodiscard]] Nanos due() const override { return due_; }
    void run(Nanos now) override;

    /// Return the peak and its bounds; 0 bytes if no sample saw any memory. Call it after all processes have
    /// ended.
    [[nodiscard]] MemoryPeak peak(const FinalMemory& end);
    /// Return the maximum in use of huge page pools that no controller includes.
    [[nodiscard]] std::int64_t uncharged_huge() const { return uncharged_huge_; }
    [[nodiscard]] int samples() const { return samples_; }
    /// Return the longest time without a sample, from the start of the program to its end.
    [[nodiscard]] Nanos max_gap(Nanos ended) const { return std::max(max_gap_, ended - last_sample_); }

  private:
    void add_sample(const TreeMemory& memory);
    [[nodiscard]] std::optional<std::int64_t> charge_without_files(const FinalMemory& end) const;
    [[nodiscard]] std::int64_t upper_bound(const FinalMemory& end) const;
    [[nodiscard]] std::int64_t without_files(const FinalMemory& end) const;

    Containment& containment_;
    const SharedState& shared_;
    Nanos max_interval_;
    double time_share_;
    Nanos interval_;
    Nanos due_;
    Nanos last_sample_ = 0; // 0: none yet
    Nanos max_gap_ = 0;
    int samples_ = 0;
    std::int64_t peak_ = 0;
    std::int64_t base_peak_ = 0; // without huge page pools
    std::int64_t max_huge_ = 0;
    std::int64_t uncharged_huge_ = 0;
    std::optional<std::int64_t> max_cache_;

    // File pages mapped by the program, which its peak resident set includes.
    pid_t program_;
    Fd statm_;
    std::int64_t max_files_ = 0;
    std::optional<std::int64_t> min_files_;

    // Between two samples the tree cannot grow by more than its page faults can have added.
    TreeMemory previous_;
    bool uses_shared_memory_ = false; // memory that a tmpfs may hold, possibly unmapped
    std::optional<std::int64_t> max_between_ = 0;
};

} // namespace assay
