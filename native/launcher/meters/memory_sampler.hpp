#pragma once

#include "common/fd.hpp"
#include "launcher/containment/containment.hpp"
#include "launcher/supervisor/periodic_task.hpp"
#include "launcher/supervisor/shared_state.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace assay {

/// The kernel's accounts of the memory of a tree that has ended.
struct FinalMemory {
    std::optional<std::int64_t> charged;  // at most, to the control group
    std::optional<std::int64_t> resident; // of the largest process, file pages included
    bool single = false;                  // there was one process
};

/// The source of a peak.
enum class PeakSource { samples, charge, resident };

/// The highest anonymous plus shared memory of a tree.
struct MemoryPeak {
    std::int64_t bytes = 0;
    PeakSource source = PeakSource::samples;
    std::optional<std::int64_t> at_most; // where it may have been clearly more, unseen
};

/// Highest anonymous plus shared memory of the tree that was seen. The first sample comes after a
/// millisecond, so that short programs have one; the distance then grows up to the longest. All samples
/// together take at most a share of the time.
class MemorySampler final : public PeriodicTask {
  public:
    MemorySampler(Containment& containment, const SharedState& shared, pid_t program, Nanos start,
                  Nanos max_interval, double time_share);

    [[nodiscard]] Nanos due() const override { return due_; }
    void run(Nanos now) override;

    /// The peak, and how far it is known; 0 bytes where nothing was seen. To be asked when all has ended.
    [[nodiscard]] MemoryPeak peak(const FinalMemory& end);
    /// Most that was held of the pools of huge pages, where no controller counts them.
    [[nodiscard]] std::int64_t uncharged_huge() const { return uncharged_huge_; }
    [[nodiscard]] int samples() const { return samples_; }
    /// Longest time without a sample, from the start of the program to its end.
    [[nodiscard]] Nanos max_gap(Nanos ended) const { return std::max(max_gap_, ended - last_sample_); }

  private:
    void add_sample(const TreeMemory& held);
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
    std::int64_t base_peak_ = 0; // without huge pages of pools
    std::int64_t max_huge_ = 0;
    std::int64_t uncharged_huge_ = 0;
    std::optional<std::int64_t> max_cache_;

    // File pages that a process has mapped: its highest resident set holds them beside its own memory.
    pid_t program_;
    Fd statm_;
    std::int64_t max_files_ = 0;
    std::optional<std::int64_t> min_files_;

    // Between two samples the tree takes no more than the page faults meanwhile can have added.
    TreeMemory previous_;
    bool uses_shared_memory_ = false; // memory that a tmpfs may hold, which need not be mapped
    std::optional<std::int64_t> max_between_ = 0;
};

} // namespace assay
