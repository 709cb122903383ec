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
class Grain {
  public:
    /// \param parts of a chunk, at most Sizes::most_parts; with one, nothing is ever split.
    /// \param of_parts how much of a part is used; null where parts are not split.
    Grain(std::size_t parts, const Grain* of_parts) : parts_(parts), of_parts_(of_parts) {}

    /// Parts are to be brought, and not chunks.
    [[nodiscard]] bool fine() const { return told_.value_or(fine_); }
    /// Of a chunk that is touched at all, as much is used, in parts that are; all, where that is not known.
    [[nodiscard]] double share() const { return judged_ < enough ? 1.0 : share_; }
    /// Somebody knows, so nothing is watched; or does not know any more.
    void tell(std::optional<bool> fine) {
        if (parts_ > 1) told_ = fine;
    }
    /// Whether the next chunk that is brought is to be split, so that it can be watched.
    ///
    /// \param alone nothing told that it would be touched.
    [[nodiscard]] bool watches_next(bool alone);
    /// Bytes that came to memory. What it holds changes so fast, and a chunk is watched for as long as it
    /// would be there if all of it had come at once: what is not used by then comes in vain.
    struct Clock {
        std::size_t now = 0, long_enough = 0;
    };
    /// A part was touched that was not mapped.
    ///
    /// \param mapped gives the number of the chunk's other parts that would not have told.
    template <class Mapped>
    void touched(std::size_t chunk, std::size_t part, const Clock& clock, Mapped mapped) {
        if (parts_ == 1 || told_) return;
        Watched* one = watched(chunk, clock);
        if (one != nullptr && one->most == 0) *one = {chunk, clock.now, 0, parts_ - mapped()};
        if (one != nullptr) use(*one, part);
    }

  private:
    /// A chunk that is watched.
    struct Watched {
        std::size_t chunk = 0;
        std::size_t since = 0;
        std::uint64_t used = 0; ///< A bit for each part.
        std::size_t most = 0;   ///< Parts that can tell; 0: none is watched.
    };
    /// The chunk that is watched, or room for it, or null.
    [[nodiscard]] Watched* watched(std::size_t chunk, const Clock& clock);
    void use(Watched& one, std::size_t part);
    void judge(Watched& one);

    static constexpr std::size_t most_watched = 32;
    static constexpr unsigned enough = 4; ///< Chunks that a judgement rests on.

    std::size_t parts_;
    const Grain* of_parts_;
    bool fine_ = false;
    bool doubts_ = false; ///< The chunk that was judged last would have it otherwise.
    std::optional<bool> told_;
    unsigned since_watched_ = 0; ///< Chunks that were brought since one was split to be watched.
    unsigned judged_ = 0;
    double share_ = 1.0; ///< Of chunks, that was used; an average over those judged last.
    std::array<Watched, most_watched> watched_{};
};

} // namespace assay::tier
