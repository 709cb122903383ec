#pragma once

#include "tier/chunk.hpp"
#include "tier/future.hpp"

namespace assay::tier {

/// Which mapped chunk is to be taken away next.
///
/// The order in which they came, with a second chance: what is taken away is first unmapped and kept for a
/// while, and a touch in that time brings it back without any transfer (CLOCK; what a touch of a mapped chunk
/// would tell, the kernel does not). Where most of what comes was there before, memory does not hold what is
/// gone through, and by that order everything would be gone just before its turn. Then what is there stays,
/// and what comes passes through a small part of memory, unless it is touched a second time soon; now and
/// then one is let in, so that what is not used any more goes (the small queue of S3-FIFO: J. Yang et al.,
/// FIFO queues are all you need for cache eviction, 2023; and the insertion now and then of BIP: M. Qureshi
/// et al., Adaptive insertion policies for high performance caching, 2007).
///
/// What is used all the time would be unmapped over and over, and each touch that tells so is a fault. So what
/// told it is passed over once when its turn comes, and the more often it did in a row, the more often.
///
/// How large that part is shows in what comes. Where most of it was taken away only a short while before, as
/// with the blocks of a matrix, the part is made most of memory; and so it stays as long as what is set aside
/// there is touched, for in a sweep that is a little larger than memory it is not.
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

    /// Whether what will be touched is known.
    [[nodiscard]] bool foresees() const { return future_ != nullptr; }
    /// Whether a chunk is foreseen, and its next touch is none by which it shows where the program is.
    [[nodiscard]] bool need_not_tell(const Chunk& chunk) const {
        return future_ != nullptr && !future_->tells(chunk);
    }
    /// Something was touched that was not foreseen: perhaps it was taken away too early.
    void surprised();

    /// A chunk was mapped. \param again whether it was taken away before, and had to be read.
    void came(Chunk& chunk, bool again);
    /// A chunk was touched while it was only unmapped.
    void used_again(Chunk& chunk);
    /// It was mapped in parts.
    void merged(Chunk& chunk) { enter(chunk, Chunk::Place::main); }
    /// It was brought before anybody asked.
    void brought(Chunk& chunk) { enter(chunk, Chunk::Place::ahead); }
    /// It was unmapped, and is kept for a while.
    void set_aside(Chunk& chunk);
    /// It is gone, or cannot be taken away.
    void left(Chunk& chunk);
    /// It cannot be unmapped just now: others first.
    void postpone(Chunk& chunk);

    /// A mapped one to be unmapped, or null.
    [[nodiscard]] Chunk* next_to_unmap();
    /// The mapped one that came longest ago, or null.
    [[nodiscard]] Chunk* oldest_mapped() const;
    /// One that was unmapped and not touched since, where there are more of them than are to be kept; or
    /// null.
    [[nodiscard]] Chunk* next_to_leave() const;
    /// The same, where nothing else is left.
    [[nodiscard]] Chunk* last_to_leave() const { return aside_.empty() ? ahead_.front() : aside_.front(); }
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
    void pass_over_spared();
    void take_out(Chunk& chunk);
    [[nodiscard]] Chunk* touched_last() const;
    void came_foreseen(Chunk& chunk);
    Queue& queue(Chunk::Place place);
    void judge(const Chunk& chunk, bool again);
    void retain(bool retains);
    void fit_passing();
    void widen();
    void narrow();

    static constexpr std::size_t one_of = 64;                  ///< Bytes that come before one is let in.
    static constexpr std::size_t unit = std::size_t{4} << 10U; ///< Of the clock, bytes that came.

    std::size_t chunk_, most_ = 0, few_passing_ = 0, few_aside_ = 0; ///< Bytes.
    Queue main_, passing_, aside_, ahead_;
    bool retains_ = false;
    std::size_t passed_ = 0;   ///< Bytes that came since one was let in.
    double again_share_ = 0.0; ///< Of what came last, the part that was there before.
    double near_share_ = 0.0;  ///< The part that was there a short while before.
    std::size_t came_ = 0;     ///< Bytes, altogether.
    std::size_t wide_ = 0;     ///< Bytes through which they pass, where it is more than usual.
    std::size_t decide_at_ = 0, pause_ = 0, touched_ = 0;
    Future* future_ = nullptr;
    std::size_t few_newest_ = 0; ///< Bytes that came last, and stay whatever their future is.
};

} // namespace assay::tier
