#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace assay::tier {

/// Decides whether to fetch whole chunks or parts, by the share of a chunk that the program uses.
///
/// Accesses to a mapped chunk are invisible. Some chunks are therefore sampled: they are split, so that each
/// part faults separately, and some parts are sampled in the same way. If little of the samples is used, all
/// chunks are split, and sampling continues.
class FetchGranularity {
  public:
    /// \param parts parts of a chunk, at most ChunkSizes::max_parts; 1 disables splitting.
    /// \param part_granularity granularity of the parts; null if they are not split.
    FetchGranularity(std::size_t parts, const FetchGranularity* part_granularity)
        : parts_(parts), part_granularity_(part_granularity) {}

    /// Return true if parts are to be fetched.
    [[nodiscard]] bool uses_parts() const { return fixed_.value_or(uses_parts_); }
    /// Return the average used share of a chunk; 1 if not known.
    [[nodiscard]] double used_share() const { return sample_count_ < min_samples ? 1.0 : used_share_; }
    /// Fix the decision by advice, without further sampling, or resume sampling.
    void fix(std::optional<bool> uses_parts) {
        if (parts_ > 1) fixed_ = uses_parts;
    }
    /// Return true if the next fetched chunk is to be split as a sample.
    ///
    /// \param alone the access belongs to no stream.
    [[nodiscard]] bool samples_next(bool alone);
    /// Clock in mapped bytes. A sample lasts as long as the chunk would remain in memory if it were fetched
    /// as a whole: parts unused until then would be fetched needlessly.
    struct Clock {
        std::size_t now = 0, sample_length = 0;
    };
    /// Record a fault on a part.
    ///
    /// \param mapped returns the number of other parts that are mapped and cannot fault.
    template <class Mapped>
    void on_access(std::size_t chunk, std::size_t part, const Clock& clock, Mapped mapped) {
        if (parts_ == 1 || fixed_) return;
        Sample* one = find_sample(chunk, clock);
        if (one != nullptr && one->max_parts_reporting == 0) *one = {chunk, clock.now, 0, parts_ - mapped()};
        if (one != nullptr) mark_used(*one, part);
    }

  private:
    /// Sampled chunk.
    struct Sample {
        std::size_t chunk = 0;
        std::size_t since = 0;
        std::uint64_t used = 0;              ///< One bit for each part.
        std::size_t max_parts_reporting = 0; ///< Parts that can fault; 0: slot unused.
    };
    /// Return the sample of a chunk, or a free slot, or null.
    [[nodiscard]] Sample* find_sample(std::size_t chunk, const Clock& clock);
    void mark_used(Sample& one, std::size_t part);
    void evaluate(Sample& one);

    static constexpr std::size_t max_samples = 32;
    static constexpr unsigned min_samples = 4; ///< Samples required for a decision.

    std::size_t parts_;
    const FetchGranularity* part_granularity_;
    bool uses_parts_ = false;
    bool doubtful_ = false; ///< The latest sample contradicts the present mode.
    std::optional<bool> fixed_;
    unsigned since_sampled_ = 0; ///< Chunks fetched since the last sample.
    unsigned sample_count_ = 0;
    double used_share_ = 1.0; ///< Average used share of recent samples.
    std::array<Sample, max_samples> samples_{};
};

} // namespace assay::tier
