#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace assay::tier {

/// What a program reads next, told by the chunks that it waited for: runs with one stride, forwards or
/// backwards, several at a time and by several threads (the vote over the last differences is that of H. Al
/// Maruf and M. Chowdhury, Effectively prefetching remote memory with Leap, 2020).
class StreamDetector {
  public:
    /// A run: it has come to `last`, and goes on by `stride` chunks.
    struct Stream {
        std::int64_t last = 0, stride = 0;
        std::uint32_t thread = 0;
        std::uint32_t window = 0;    ///< Chunks to be had ahead of it.
        std::uint64_t last_used = 0; ///< When it was followed last; 0: never.
        std::int64_t first = 0;      ///< Where it began, or came round to.
        std::int64_t next_first = 0; ///< Where the next run like it is expected, where `repeats`.
        std::int64_t end = 0;        ///< How far the run before it went, where `repeats`.
        bool is_repeating = false;

        /// The next run like it begins: at a chunk, and the one after that as much further on.
        void restart(std::int64_t at) {
            next_first = 2 * at - first;
            first = at;
            end = last;
            is_repeating = true;
        }
        /// Whether it has come about as far as the run before it.
        [[nodiscard]] bool is_complete() const { return !is_repeating || (end - last) / stride <= window; }
        /// Whether it is on its way to a chunk, and goes at least as far.
        [[nodiscard]] bool will_pass(std::int64_t chunk) const {
            return is_repeating && (chunk - last) / stride > 0 && (end - chunk) / stride >= 0;
        }
        /// Whether the next run like it begins about there: what begins with a column of a matrix does not
        /// begin with a chunk, and of the run before the first ones may have been mapped. One that has hardly
        /// begun itself may be chance.
        [[nodiscard]] bool restarts_near(std::int64_t chunk) const {
            const auto [min, max] = std::minmax(first, next_first);
            const bool is_long = (last - first) / stride >= window;
            return is_unit_stride() && is_long && is_complete() && chunk >= min && chunk <= max + 1;
        }
        [[nodiscard]] bool is_unit_stride() const { return stride == 1 || stride == -1; }
        /// Whether it passes the last of all chunks on its way from one to another.
        [[nodiscard]] bool wraps(std::int64_t from, std::int64_t to) const {
            return is_unit_stride() && (to > from) != (stride > 0);
        }
        /// The chunk that comes after one; none of those that there are, where the run ends with it.
        [[nodiscard]] std::int64_t next(std::int64_t chunk, std::int64_t count) const {
            chunk += stride;
            if (!is_unit_stride()) return chunk;
            return chunk == count ? 0 : chunk < 0 ? count - 1 : chunk;
        }
    };

    /// A thread touched a chunk that was not mapped.
    ///
    /// \param count of all chunks: behind the last comes the first, for a run that takes each of them.
    /// \param mapped whether a chunk is, so that a run passes over it without a word.
    /// \param most chunks of a window.
    /// \returns the run that it belongs to, or null.
    template <class Mapped>
    Stream* follow(std::int64_t chunk, std::int64_t count, std::uint32_t thread, std::uint32_t max,
                   Mapped mapped) {
        ++clock_;
        for (const bool own : {true, false}) {
            const auto matches_thread = [own, thread](const Stream& s) {
                return s.last_used != 0 && (s.thread == thread) == own;
            };
            const auto find_at = [&](bool by_ones) {
                return std::ranges::find_if(streams_, [&](const Stream& s) {
                    return matches_thread(s) && s.is_unit_stride() == by_ones &&
                           reaches(s, s.last, chunk, count, mapped);
                });
            };
            auto found = find_at(true);
            if (found == streams_.end() && own)
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
            // Any run comes by where another one is expected to begin anew; and one that has not gone a step
            // since it last did is none.
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

    /// A run that somebody has told of: upwards from a chunk, with its whole window at once.
    Stream* add_sequential(std::int64_t chunk, std::uint32_t thread, std::uint32_t max);

    /// Whether what this thread touched last, in a run or alone, was this chunk.
    [[nodiscard]] bool is_at(std::int64_t chunk, std::uint32_t thread) const;

    /// What was brought ahead was used.
    void on_used() { hit_rate_ += (1.0 - hit_rate_) / averaged_outcomes; }
    /// What was brought ahead was not used: less is brought from now on.
    void on_wasted() {
        hit_rate_ -= hit_rate_ / averaged_outcomes;
        for (Stream& one : streams_) one.window = one.window > 2 ? one.window / 2 : one.window;
    }

  private:
    static constexpr std::size_t max_streams = 16;
    static constexpr int max_mapped_gap = 4096;
    static constexpr std::uint64_t history_length = 64; ///< Touches, after which one of no run begins none.
    static constexpr std::uint32_t initial_window = 2;
    static constexpr double averaged_outcomes = 32; ///< Of what was brought ahead, that an average is over.

    /// Most is brought in vain, so neighbours that are touched one after the other are no run yet: parts of
    /// what is near in space and lies apart in memory, a tree, a curve that fills a box.
    [[nodiscard]] bool is_unreliable() const { return hit_rate_ < 0.25; }

    /// Whether a run comes from one chunk to another over nothing but what is mapped.
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
        bool unmatched = false; ///< Of no run, or of one that it began.
    };
    /// What a thread touched last in no run, the newest first.
    struct UnmatchedFaults {
        std::array<std::int64_t, 2> chunks{};
        std::size_t found = 0;
    };

    /// Of a run that has come to a chunk: where it began, and its stride; 0: there is none.
    struct StreamStart {
        std::int64_t first = 0, stride = 0;
    };

    /// A neighbour of the fault before it begins a run at once, as long as that serves; other strides are
    /// taken where they come twice, and so are faults in one direction with nothing but what is mapped
    /// between them.
    template <class Mapped>
    [[nodiscard]] StreamStart start_of(const UnmatchedFaults& before, std::int64_t chunk, std::int64_t count,
                                       Mapped mapped) const {
        const auto [last, one_before] = before.chunks;
        const std::int64_t stride = chunk - last;
        if (before.found == 0 || stride == 0) return {};
        if ((stride == 1 || stride == -1) && !is_unreliable()) return {last, stride};
        if (before.found == 1) return {};
        if (last - one_before == stride) return {one_before, stride};
        const Stream straight{.stride = stride > 0 ? 1 : -1};
        const auto goes_on = [&](std::int64_t from, std::int64_t to) {
            return !straight.wraps(from, to) && reaches(straight, from, to, count, mapped);
        };
        if (is_unreliable() || !goes_on(one_before, last) || !goes_on(last, chunk)) return {};
        return {one_before, straight.stride};
    }

    /// What was touched at a time, fewer than `recent` touches ago and after the beginning.
    [[nodiscard]] const PastFault& fault_at(std::uint64_t time) const {
        return history_[time % history_length];
    }
    [[nodiscard]] UnmatchedFaults unmatched(std::uint32_t thread) const;
    /// Whether a thread touched a chunk within so many touches.
    [[nodiscard]] bool touched(std::int64_t chunk, std::uint32_t thread, std::uint64_t within) const;
    /// It was not touched lately, but its neighbour was, and the next one on the same side: the fields of a
    /// grid in turn. That also looks like one run of a large stride that begins anew all the time, but each
    /// of several tells more of what comes next.
    [[nodiscard]] StreamStart grid_neighbour(std::int64_t chunk, std::uint32_t thread) const;
    void record(std::int64_t chunk, std::uint32_t thread, bool unmatched);
    Stream& extend(Stream& one, std::int64_t chunk, std::uint32_t thread, std::uint32_t max);
    /// A run, or the next one of its kind, which takes the place of the one before.
    Stream& begin_or_continue(StreamStart start, std::int64_t chunk, std::uint32_t thread, std::uint32_t max);
    /// One more run beside all others.
    Stream& add(StreamStart start, std::int64_t chunk, std::uint32_t thread, std::uint32_t max);
    Stream& oldest();

    std::array<Stream, max_streams> streams_{};
    std::array<PastFault, history_length>
        history_{}; ///< What was touched last: that of time t at t % recent.
    std::uint64_t clock_ = 0;
    double hit_rate_ = 1.0; ///< Of what was brought ahead.
};

} // namespace assay::tier
