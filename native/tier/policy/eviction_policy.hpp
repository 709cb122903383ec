#pragma once

#include "tier/memory/chunk.hpp"
#include "tier/policy/next_use.hpp"

namespace assay::tier {

/// Which mapped chunk is to be taken away next.
///
/// The order in which they came, with a second chance: what is taken away is first unmapped and kept for a
/// while, and a touch in that time brings it back without any transfer (CLOCK; what a touch of a mapped chunk
/// would tell, the kernel does not). Where most of what comes was there before, memory does not hold what is
/// gone through, and by that order everything would be gone just before its turn. Then what is there stays,
/// and what comes passes through a small part of memory (the small queue of S3-FIFO: J. Yang et al., FIFO
/// queues are all you need for cache eviction, 2023), unless it comes again sooner than something that stays
/// has been used (S. Jiang and X. Zhang, LIRS, 2002): of a sweep all come again as late, and so what stays
/// does; what is not used any more makes room for what is, and blocks that are used over and over stay.
///
/// To know when what stays was used it is unmapped some time before it would be used again, and watched. What
/// is used all the time would be unmapped over and over, and each touch that tells so is a fault. So what
/// told it is passed over once when its turn comes, and the more often it did in a row, the more often.
class Residence {
  public:
    /// \param most bytes that memory has room for. \param chunk bytes of the largest chunks.
    Residence(std::size_t most, std::size_t chunk) : chunk_(chunk) { fit(most); }
    /// Memory has room for so many bytes from now on.
    void fit(std::size_t most);

    /// What will be touched is known, until it is null again: then what is touched last is taken away first.
    ///
    /// \param newest bytes that came last, and stay: when they are touched soon again, that is not known.
    void foresee(Future* future, std::size_t newest);

    /// The size of what a chunk is to be one with, or its own.
    [[nodiscard]] std::size_t whole_at(const Chunk& part) const {
        return future_ == nullptr ? part.region->wanted() : future_->whole_at(part);
    }
    /// Whether a chunk is foreseen, and its next touch is none by which it shows where the program is.
    [[nodiscard]] bool need_not_tell(const Chunk& chunk) const {
        return future_ != nullptr && !future_->tells(chunk);
    }
    /// Something was touched that was not foreseen: perhaps it was taken away too early.
    void surprised();

    /// Bytes that come while one that comes is there: fewer where most of what is there stays, and the rest
    /// passes by.
    [[nodiscard]] std::size_t stay_bytes() const { return retains_ ? most_ / 4 : most_ / 2; }

    /// A chunk was mapped. \param again whether it was taken away before, and had to be read.
    void came(Chunk& chunk, bool again);
    /// Whether a chunk is there, and only unmapped.
    [[nodiscard]] static bool is_unmapped(const Chunk& chunk) {
        return chunk.place == Chunk::Place::aside || chunk.place == Chunk::Place::watched;
    }
    /// A chunk was touched while it was only unmapped.
    void used_again(Chunk& chunk);
    /// It was mapped in parts.
    void merged(Chunk& chunk);
    /// It was brought before anybody asked.
    void brought(Chunk& chunk) { enter(chunk, Chunk::Place::ahead); }
    /// It was unmapped, and is kept for a while.
    void set_aside(Chunk& chunk);
    /// It was unmapped to see whether it is used.
    void watch(Chunk& chunk) { enter(chunk, Chunk::Place::watched); }
    /// It is gone.
    void left(Chunk& chunk);
    /// It cannot be taken away: parts of it are unmapped or protected, which the program may change.
    void stick(Chunk& chunk);
    /// The one of those that was tried longest ago, or null.
    [[nodiscard]] Chunk* next_stuck() const { return stuck_.front(); }
    /// It cannot be unmapped just now: others first.
    void postpone(Chunk& chunk);

    /// A mapped one to be unmapped, or null.
    [[nodiscard]] Chunk* next_to_unmap();
    /// A mapped one to be unmapped so that it can be watched, or null.
    [[nodiscard]] Chunk* next_to_watch();
    /// The mapped one that came longest ago, or null.
    [[nodiscard]] Chunk* oldest_mapped() const;
    /// One that was unmapped and not touched since, where there are more of them than are to be kept; or
    /// null.
    [[nodiscard]] Chunk* next_to_leave() const;
    /// The same, where nothing else is left.
    [[nodiscard]] Chunk* last_to_leave() const;
    /// The one that was brought ahead longest ago, and is not used yet.
    [[nodiscard]] Chunk* oldest_ahead() const { return ahead_.front(); }

    /// Bytes that are mapped.
    [[nodiscard]] std::size_t mapped_bytes() const { return main_.bytes() + passing_.bytes(); }
    /// Bytes that were mapped, ever.
    [[nodiscard]] std::size_t came_bytes() const { return came_; }
    /// Bytes that were brought before anybody asked.
    [[nodiscard]] std::size_t ahead_bytes() const { return ahead_.bytes(); }

  private:
    void enter(Chunk& chunk, Chunk::Place place);
    void pass_over(Chunk& chunk);
    void take_out(Chunk& chunk);
    [[nodiscard]] Chunk* touched_last() const;
    void came_foreseen(Chunk& chunk);
    Queue& queue(Chunk::Place place);
    void judge(const Chunk& chunk, bool again);
    void pass_more(const Chunk& chunk);
    [[nodiscard]] std::size_t most_more_passing() const;
    void retain(bool retains);
    void fit_parts();
    void end_watch();
    /// Bytes that pass through.
    [[nodiscard]] std::size_t passing_bytes() const { return few_passing_ + more_passing_; }
    /// More passes through memory than is to.
    [[nodiscard]] bool has_room() const { return passing_.bytes() > passing_bytes() + few_passing_ / 4; }
    /// For what comes again after so many bytes came.
    [[nodiscard]] bool makes_room(std::size_t distance);
    void now(Chunk& chunk) const { chunk.came = static_cast<std::uint32_t>(came_ / unit); }
    /// Bytes that came since a chunk was touched, as far as that is known.
    [[nodiscard]] std::size_t age(const Chunk& chunk) const {
        return (static_cast<std::uint32_t>(came_ / unit) - chunk.came) * unit;
    }

    static constexpr std::size_t unit = std::size_t{4} << 10U; ///< Of the clock, bytes that came.

    std::size_t chunk_, most_ = 0, few_passing_ = 0, few_aside_ = 0; ///< Bytes.
    /// Bytes, for what passes through is touched again on its way, or soon after.
    std::size_t more_passing_ = 0;
    Queue main_, passing_, aside_, watched_, ahead_, stuck_;
    bool retains_ = false;
    double again_share_ = 0.0; ///< Of what came last, the part that was there before.
    double distance_ = 0.0;    ///< Bytes that came before that came again; an average.
    std::size_t came_ = 0;     ///< Bytes, altogether.
    Future* future_ = nullptr;
    std::size_t few_newest_ = 0; ///< Bytes that came last, and stay whatever their future is.
};

} // namespace assay::tier
