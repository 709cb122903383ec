#include "tier/policy/stream_detector.hpp"

#include <algorithm>

namespace assay::tier {

StreamDetector::Stream& StreamDetector::extend(Stream& one, std::int64_t chunk, std::uint32_t thread,
                                               std::uint32_t max) {
    if (one.is_repeating && chunk == one.next_first && !one.will_pass(chunk)) one.restart(chunk);
    record(chunk, thread, false);
    one.last = chunk;
    one.thread = thread;
    one.last_used = clock_;
    one.window = std::min(is_unreliable() ? initial_window : 2 * one.window, max);
    return one;
}

StreamDetector::Stream& StreamDetector::oldest() {
    return *std::ranges::min_element(streams_, {}, &Stream::last_used);
}

StreamDetector::Stream* StreamDetector::add_sequential(std::int64_t chunk, std::uint32_t thread,
                                                       std::uint32_t max) {
    Stream& one = oldest();
    one = {.last = chunk, .stride = 1, .thread = thread, .window = max, .last_used = clock_, .first = chunk};
    return &one;
}

bool StreamDetector::is_at(std::int64_t chunk, std::uint32_t thread) const {
    const auto ends_here = [chunk, thread](const Stream& s) {
        return s.last_used != 0 && s.thread == thread && s.last == chunk;
    };
    if (std::ranges::any_of(streams_, ends_here)) return true;
    for (std::uint64_t back = 0; back < std::min(history_length, clock_); ++back)
        if (const PastFault& fault = fault_at(clock_ - back); fault.unmatched)
            return fault.thread == thread && fault.chunk == chunk;
    return false;
}

StreamDetector::UnmatchedFaults StreamDetector::unmatched(std::uint32_t thread) const {
    UnmatchedFaults all;
    for (std::uint64_t back = 1; back < std::min(history_length, clock_) && all.found < all.chunks.size();
         ++back) {
        const PastFault& fault = fault_at(clock_ - back);
        if (fault.unmatched && fault.thread == thread) all.chunks[all.found++] = fault.chunk;
    }
    return all;
}

bool StreamDetector::has_faulted(std::int64_t chunk, std::uint32_t thread, std::uint64_t within) const {
    for (std::uint64_t back = 1; back < clock_ && back <= within; ++back) {
        const PastFault& fault = fault_at(clock_ - back);
        if (fault.chunk == chunk && fault.thread == thread) return true;
    }
    return false;
}

StreamDetector::StreamStart StreamDetector::grid_neighbour(std::int64_t chunk, std::uint32_t thread) const {
    // Fewer streams than slots: unrelated faults replace some.
    constexpr std::uint64_t longest = 2 * (max_streams - max_streams / 4);
    const auto recently_faulted = [this, thread](std::int64_t one) {
        return has_faulted(one, thread, longest);
    };
    // A repeated fault means that the chunk was evicted too early, or that a sweep has turned.
    if (is_unreliable() || has_faulted(chunk, thread, history_length - 1)) return {};
    for (const std::int64_t stride : {1, -1})
        if (recently_faulted(chunk - stride) && recently_faulted(chunk - 2 * stride))
            return {chunk - 2 * stride, stride};
    return {};
}

void StreamDetector::record(std::int64_t chunk, std::uint32_t thread, bool unmatched) {
    history_[clock_ % history_length] = {chunk, thread, unmatched};
}

StreamDetector::Stream& StreamDetector::begin_or_continue(StreamStart start, std::int64_t chunk,
                                                          std::uint32_t thread, std::uint32_t max) {
    const auto [first, stride] = start;
    // A stream with the same stride and another beginning: the columns of a matrix. The next one is expected
    // at the same distance. A stream in progress may skip chunks, and accesses to others meanwhile do not
    // belong to it.
    for (Stream& one : streams_) {
        if (one.last_used == 0 || one.thread != thread || one.stride != stride || first == one.first)
            continue;
        const bool goes_on = one.will_pass(first);
        if (!goes_on && !one.is_complete()) continue;
        if (!goes_on) one.restart(first);
        one.last = chunk;
        one.last_used = clock_;
        return one;
    }
    return add(start, chunk, thread, max);
}

StreamDetector::Stream& StreamDetector::add(StreamStart start, std::int64_t chunk, std::uint32_t thread,
                                            std::uint32_t max) {
    const auto [first, stride] = start;
    Stream& one = oldest();
    one = {.last = chunk,
           .stride = stride,
           .thread = thread,
           .window = std::min(initial_window, max),
           .last_used = clock_,
           .first = first};
    return one;
}

} // namespace assay::tier
