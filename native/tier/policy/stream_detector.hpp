#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace assay::tier {

/// Detects access streams in the faults of a region: constant stride, ascending or descending, several at a
/// time and in several threads. The majority vote over the last differences follows Leap (H. Al Maruf and M.
/// Chowdhury, Effectively prefetching remote memory with Leap, 2020).
///
/// The advisor has a detector of its own (SweepDetector), because its input differs: periodic scans yield
/// unordered sets of resident granules, without threads and without single faults. The votes and strides used
/// here need the order of the faults.
class StreamDetector {
  public:
    /// Access stream: at chunk `last`, advancing by `stride` chunks.
    struct Stream {
        std::int64_t last = 0, stride = 0;
        std::uint32_t thread = 0;
        std::uint32_t window = 0;    ///< Chunks to prefetch.
        std::uint64_t last_used = 0; ///< Time of the last fault; 0: unused slot.
        std::int64_t first = 0;      ///< Chunk at which the stream began or wrapped around.
        std::int64_t next_first = 0; ///< Expected beginning of the next repetition, if `is_repeating`.
        std::int64_t end = 0;        ///< End of the previous repetition, if `is_repeating`.
        bool is_repeating = false;

        /// Restart the stream at a chunk; the following repetition is expected at the same distance.
        void restart(std::int64_t at) {
            next_first = 2 * at - first;
            first = at;
            end = last;
            is_repeating = true;
        }
        /// Return true if the stream has come about as far as its previous repetition.
        [[nodiscard]] bool is_complete() const { return !is_repeating || (end - last) / stride <= window; }
        /// Return true if the stream will reach a chunk.
        [[nodiscard]] bool will_pass(std::int64_t chunk) const {
            return is_repeating && (chunk - last) / stride > 0 && (end - chunk) / stride >= 0;
        }
        /// Return true if the next repetition begins near a chunk. Columns of a matrix do not begin at chunk
        /// boundaries, and the first chunks of the previous repetition may have been mapped. Short streams
        /// may be coincidence.
        [[nodiscard]] bool restarts_near(std::int64_t chunk) const {
            const auto [min, max] = std::minmax(first, next_first);
            const bool is_long = (last - first) / stride >= window;
            return is_unit_stride() && is_long && is_complete() && chunk >= min && chunk <= max + 1;
        }
        [[nodiscard]] bool is_unit_stride() const { return stride == 1 || stride == -1; }
        /// Return true if the stream wraps around between two chunks.
        [[nodiscard]] bool wraps(std::int64_t from, std::int64_t to) const {
            return is_unit_stride() && (to > from) != (stride > 0);
        }
        /// Return the chunk after another one; an invalid number if the stream ends there.
        [[nodiscard]] std::int64_t next(std::int64_t chunk, std::int64_t count) const {
            chunk += stride;
            if (!is_unit_stride()) return chunk;
            return chunk == count ? 0 : chunk < 0 ? count - 1 : chunk;
        }
    };

    /// Process a fault of a thread.
    ///
    /// \param count number of chunks; unit-stride streams wrap around.
    /// \param mapped predicate for mapped chunks, which streams skip without a fault.
    /// \param max maximum window, in chunks.
    /// \returns the stream of the fault; null if there is none.
    template <class Mapped>
    Stream* follow(std::int64_t chunk, std::int64_t count, std::uint32_t thread, std::uint32_t max,
                   Mapped mapped) {
        ++clock_;
        for (const bool same_thread : {true, false}) {
            const auto matches_thread = [same_thread, thread](const Stream& s) {
                return s.last_used != 0 && (s.thread == thread) == same_thread;
            };
            const auto find_at = [&](bool by_ones) {
                return std::ranges::find_if(streams_, [&](const Stream& s) {
                    return matches_thread(s) && s.is_unit_stride() == by_ones &&
                           reaches(s, s.last, chunk, count, mapped);
                });
            };
            auto found = find_at(true);
            if (found == streams_.end() && same_thread)
                if (const StreamStart start = grid_neighbour(chunk, thread); start.stride != 0) {
                    record(chunk, thread, true);
                    return &add(start, chunk, thread, max);
                }
            if (found == streams_.end()) found = find_at(false);
            if (found != streams_.end()) {
                if (found->wraps(found->last, chunk) && !found->is_repeating)
                    found->first = found->stride > 0 ? 0 : count - 1;
                return &extend(*found, chunk, thread, max);
            }
            // Any stream matches where another one is expected to restart. A stream without progress since
            // its last restart does not.
            for (Stream& one : streams_)
                if (matches_thread(one) && one.is_repeating && one.last != one.first && one.next_first >= 0 &&
                    one.next_first < count && !one.will_pass(one.next_first)) {
                    const bool near = one.restarts_near(chunk);
                    if (!near && !reaches(one, one.next_first - one.stride, chunk, count, mapped)) continue;
                    one.restart(near ? chunk : one.next_first);
                    return &extend(one, chunk, thread, max);
                }
        }
        const StreamStart start = start_of(unmatched(thread), chunk, count, mapped);
        record(chunk, thread, true);
        return start.stride == 0 ? nullptr : &begin_or_continue(start, chunk, thread, max);
    }

    /// Add a declared ascending stream with its full window.
    Stream* add_sequential(std::int64_t chunk, std::uint32_t thread, std::uint32_t max);

    /// Return true if the last fault of a thread was on this chunk.
    [[nodiscard]] bool is_at(std::int64_t chunk, std::uint32_t thread) const;

    /// Record the use of a prefetched chunk.
    void on_used() { hit_rate_ += (1.0 - hit_rate_) / averaged_outcomes; }
    /// Record an unused prefetched chunk, and halve the windows.
    void on_unused() {
        hit_rate_ -= hit_rate_ / averaged_outcomes;
        for (Stream& one : streams_) one.window = one.window > 2 ? one.window / 2 : one.window;
    }

  private:
    static constexpr std::size_t max_streams = 16;
    static constexpr int max_mapped_gap = 4096;
    static constexpr std::uint64_t history_length = 64; ///< Faults after which an unmatched one is forgotten.
    static constexpr std::uint32_t initial_window = 2;
    static constexpr double averaged_outcomes = 32; ///< Prefetches in the moving average.

    /// Return true if most prefetches remain unused. Adjacent faults are then no evidence of a stream: in
    /// trees and space-filling curves, neighbours in space lie apart in memory.
    [[nodiscard]] bool is_unreliable() const { return hit_rate_ < 0.25; }

    /// Return true if a stream leads from one chunk to another over mapped chunks only.
    template <class Mapped>
    static bool reaches(const Stream& one, std::int64_t from, std::int64_t chunk, std::int64_t count,
                        Mapped mapped) {
        std::int64_t steps = (chunk - from) / one.stride;
        if (one.is_unit_stride() && steps < 0) steps += count;
        if (steps <= 0 || steps > max_mapped_gap) return false;
        std::int64_t at = from;
        for (std::int64_t i = 1; i < steps; ++i)
            if (at = one.next(at, count); !mapped(at)) return false;
        return one.next(at, count) == chunk;
    }

    struct PastFault {
        std::int64_t chunk = 0;
        std::uint32_t thread = 0;
        bool unmatched = false; ///< Not part of a stream, or only its beginning.
    };
    /// Recent faults of a thread outside of streams, latest first.
    struct UnmatchedFaults {
        std::array<std::int64_t, 2> chunks{};
        std::size_t found = 0;
    };

    /// Beginning and stride of a new stream; stride 0: none.
    struct StreamStart {
        std::int64_t first = 0, stride = 0;
    };

    /// Return the stream that a fault begins. Adjacent faults suffice while prefetches are useful. Other
    /// strides must occur twice, and so must faults in one direction with only mapped chunks between them.
    template <class Mapped>
    [[nodiscard]] StreamStart start_of(const UnmatchedFaults& before, std::int64_t chunk, std::int64_t count,
                                       Mapped mapped) const {
        const auto [last, one_before] = before.chunks;
        const std::int64_t stride = chunk - last;
        if (before.found == 0 || stride == 0) return {};
        if ((stride == 1 || stride == -1) && !is_unreliable()) return {last, stride};
        if (before.found == 1) return {};
        if (last - one_before == stride) return {one_before, stride};
        const Stream unit_stride{.stride = stride > 0 ? 1 : -1};
        const auto goes_on = [&](std::int64_t from, std::int64_t to) {
            return !unit_stride.wraps(from, to) && reaches(unit_stride, from, to, count, mapped);
        };
        if (is_unreliable() || !goes_on(one_before, last) || !goes_on(last, chunk)) return {};
        return {one_before, unit_stride.stride};
    }

    /// Return a past fault, at most `history_length` ago.
    [[nodiscard]] const PastFault& fault_at(std::uint64_t time) const {
        return history_[time % history_length];
    }
    [[nodiscard]] UnmatchedFaults unmatched(std::uint32_t thread) const;
    /// Return true if a thread recently faulted on a chunk.
    [[nodiscard]] bool has_faulted(std::int64_t chunk, std::uint32_t thread, std::uint64_t within) const;
    /// Return the stream of a fault next to a recent one with a neighbour on the same side: the fields of a
    /// grid in turn. They resemble one stream with a large stride and constant restarts, but separate streams
    /// predict more.
    [[nodiscard]] StreamStart grid_neighbour(std::int64_t chunk, std::uint32_t thread) const;
    void record(std::int64_t chunk, std::uint32_t thread, bool unmatched);
    Stream& extend(Stream& one, std::int64_t chunk, std::uint32_t thread, std::uint32_t max);
    /// Begin a stream, or the next repetition of a similar one, which it replaces.
    Stream& begin_or_continue(StreamStart start, std::int64_t chunk, std::uint32_t thread, std::uint32_t max);
    /// Add a stream.
    Stream& add(StreamStart start, std::int64_t chunk, std::uint32_t thread, std::uint32_t max);
    Stream& oldest();

    std::array<Stream, max_streams> streams_{};
    std::array<PastFault, history_length> history_{}; ///< Recent faults; time t at index t % history_length.
    std::uint64_t clock_ = 0;
    double hit_rate_ = 1.0; ///< Share of prefetches that were used.
};

} // namespace assay::tier
