#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace assay::tier {

/// How much of a chunk a program uses while it is at it, and so whether whole chunks are to be brought for
/// it, or parts of them.
///
/// A chunk that is mapped tells nothing about its parts. So some are watched: they are split, and each of
/// their parts tells when it is touched; and some of these are watched in the same way. Where little of them
/// is used, all chunks are split from then on, and some of them are watched at any time.
class FetchGranularity {
  public:
    /// \param parts of a chunk, at most Sizes::most_parts; with one, nothing is ever split.
    /// \param of_parts how much of a part is used; null where parts are not split.
    FetchGranularity(std::size_t parts, const FetchGranularity* part_granularity)
        : parts_(parts), part_granularity_(part_granularity) {}

    /// Parts are to be brought, and not chunks.
    [[nodiscard]] bool uses_parts() const { return fixed_.value_or(uses_parts_); }
    /// Of a chunk that is touched at all, as much is used, in parts that are; all, where that is not known.
    [[nodiscard]] double used_share() const { return judged_ < min_samples ? 1.0 : used_share_; }
    /// Somebody knows, so nothing is watched; or does not know any more.
    void fix(std::optional<bool> uses_parts) {
        if (parts_ > 1) fixed_ = uses_parts;
    }
    /// Whether the next chunk that is brought is to be split, so that it can be watched.
    ///
    /// \param alone nothing told that it would be touched.
    [[nodiscard]] bool samples_next(bool alone);
    /// Bytes that came to memory. What it holds changes so fast, and a chunk is watched for as long as it
    /// would be there if all of it had come at once: what is not used by then comes in vain.
    struct FetchClock {
        std::size_t now = 0, sample_length = 0;
    };
    /// A part was touched that was not mapped.
    ///
    /// \param mapped gives the number of the chunk's other parts that would not have told.
    template <class Mapped>
    void on_access(std::size_t chunk, std::size_t part, const FetchClock& clock, Mapped mapped) {
        if (parts_ == 1 || fixed_) return;
        Sample* one = find_sample(chunk, clock);
        if (one != nullptr && one->max_parts_reporting == 0) *one = {chunk, clock.now, 0, parts_ - mapped()};
        if (one != nullptr) mark_used(*one, part);
    }

  private:
    /// A chunk that is watched.
    struct Sample {
        std::size_t chunk = 0;
        std::size_t since = 0;
        std::uint64_t used = 0;              ///< A bit for each part.
        std::size_t max_parts_reporting = 0; ///< Parts that can tell; 0: none is watched.
    };
    /// The chunk that is watched, or room for it, or null.
    [[nodiscard]] Sample* find_sample(std::size_t chunk, const FetchClock& clock);
    void mark_used(Sample& one, std::size_t part);
    void judge(Sample& one);

    static constexpr std::size_t max_watched = 32;
    static constexpr unsigned min_samples = 4; ///< Chunks that a judgement rests on.

    std::size_t parts_;
    const FetchGranularity* part_granularity_;
    bool uses_parts_ = false;
    bool doubtful_ = false; ///< The chunk that was judged last would have it otherwise.
    std::optional<bool> fixed_;
    unsigned since_sampled_ = 0; ///< Chunks that were brought since one was split to be watched.
    unsigned judged_ = 0;
    double used_share_ = 1.0; ///< Of chunks, that was used; an average over those judged last.
    std::array<Sample, max_watched> samples_{};
};

} // namespace assay::tier
