#pragma once

#include "launcher/containment.hpp"
#include "launcher/job.hpp"
#include "launcher/shared.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace assay {

/// Highest anonymous plus shared memory of the tree that was seen. The first sample comes after a
/// millisecond, so that short programs have one; the distance then grows up to the longest. All samples
/// together take at most a share of the time.
class MemorySampler final : public Job {
  public:
    MemorySampler(Containment& containment, const Shared& shared, Nanos start, Nanos longest, double share);

    [[nodiscard]] Nanos due() const override { return due_; }
    void run(Nanos now) override;

    [[nodiscard]] std::optional<std::int64_t> peak() const { return peak_; }
    /// What the tree held when most was charged, at least, for a program that was gone before it was looked
    /// at: the charge without the most file pages that were ever seen, which need not have been there then,
    /// and no more than the largest process (`resident`) had, should files have come and gone unseen. To be
    /// asked when all has ended.
    [[nodiscard]] std::optional<std::int64_t> at_peak(std::int64_t charged, std::int64_t resident);
    [[nodiscard]] int samples() const { return samples_; }
    /// Longest time without a sample, from the start of the program to its end.
    [[nodiscard]] Nanos widest(Nanos ended) const { return std::max(widest_, ended - last_); }

  private:
    Containment& containment_;
    const Shared& shared_;
    Nanos longest_;
    double share_;
    Nanos interval_;
    Nanos due_;
    Nanos last_ = 0; // 0: none yet
    Nanos widest_ = 0;
    int samples_ = 0;
    std::optional<std::int64_t> peak_;
    std::optional<std::int64_t> most_cache_;
};

} // namespace assay
