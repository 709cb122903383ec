#include "tier/policy/stream_detector.hpp"

#include <algorithm>

namespace assay::tier {

Streams::Stream& Streams::go_on(Stream& one, std::int64_t chunk, std::uint32_t thread, std::uint32_t most) {
    if (one.repeats && chunk == one.next_first && !one.will_pass(chunk)) one.begin_anew(chunk);
    see(chunk, thread, false);
    one.last = chunk;
    one.thread = thread;
    one.used = now_;
    one.window = std::min(misleads() ? first_window : 2 * one.window, most);
    return one;
}

Streams::Stream& Streams::oldest() {
    return *std::ranges::min_element(streams_, {}, &Stream::used);
}

Streams::Stream* Streams::assume(std::int64_t chunk, std::uint32_t thread, std::uint32_t most) {
    Stream& one = oldest();
    one = {.last = chunk, .stride = 1, .thread = thread, .window = most, .used = now_, .first = chunk};
    return &one;
}

bool Streams::is_at(std::int64_t chunk, std::uint32_t thread) const {
    const auto ends_here = [chunk, thread](const Stream& s) {
        return s.used != 0 && s.thread == thread && s.last == chunk;
    };
    if (std::ranges::any_of(streams_, ends_here)) return true;
    for (std::uint64_t back = 0; back < std::min(recent, now_); ++back)
        if (const Seen& seen = seen_at(now_ - back); seen.alone)
            return seen.thread == thread && seen.chunk == chunk;
    return false;
}

Streams::Alone Streams::alone(std::uint32_t thread) const {
    Alone all;
    for (std::uint64_t back = 1; back < std::min(recent, now_) && all.found < all.chunks.size(); ++back) {
        const Seen& seen = seen_at(now_ - back);
        if (seen.alone && seen.thread == thread) all.chunks[all.found++] = seen.chunk;
    }
    return all;
}

bool Streams::touched(std::int64_t chunk, std::uint32_t thread, std::uint64_t within) const {
    for (std::uint64_t back = 1; back < now_ && back <= within; ++back) {
        const Seen& seen = seen_at(now_ - back);
        if (seen.chunk == chunk && seen.thread == thread) return true;
    }
    return false;
}

Streams::Start Streams::beside(std::int64_t chunk, std::uint32_t thread) const {
    // Of fewer runs than there is room for: what is touched besides takes the place of one.
    constexpr std::uint64_t longest = 2 * (most_streams - most_streams / 4);
    const auto lately = [this, thread](std::int64_t one) { return touched(one, thread, longest); };
    // One that comes back was taken away too early, or a sweep has turned.
    if (misleads() || touched(chunk, thread, recent - 1)) return {};
    for (const std::int64_t stride : {1, -1})
        if (lately(chunk - stride) && lately(chunk - 2 * stride)) return {chunk - 2 * stride, stride};
    return {};
}

void Streams::see(std::int64_t chunk, std::uint32_t thread, bool alone) {
    seen_[now_ % recent] = {chunk, thread, alone};
}

Streams::Stream& Streams::begin(Start start, std::int64_t chunk, std::uint32_t thread, std::uint32_t most) {
    const auto [first, stride] = start;
    // A run with the same stride, which began elsewhere: a matrix by columns. Then the next begins as far on.
    // One that is still under way may leave out some chunks, and touches of others meanwhile are not of it.
    for (Stream& one : streams_) {
        if (one.used == 0 || one.thread != thread || one.stride != stride || first == one.first) continue;
        const bool goes_on = one.will_pass(first);
        if (!goes_on && !one.is_over()) continue;
        if (!goes_on) one.begin_anew(first);
        one.last = chunk;
        one.used = now_;
        return one;
    }
    return add(start, chunk, thread, most);
}

Streams::Stream& Streams::add(Start start, std::int64_t chunk, std::uint32_t thread, std::uint32_t most) {
    const auto [first, stride] = start;
    Stream& one = oldest();
    one = {.last = chunk,
           .stride = stride,
           .thread = thread,
           .window = std::min(first_window, most),
           .used = now_,
           .first = first};
    return one;
}

} // namespace assay::tier
