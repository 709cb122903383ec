#include "tier/streams.hpp"

#include <algorithm>

namespace assay::tier {

Streams::Stream& Streams::go_on(Stream& one, std::int64_t chunk, std::uint32_t thread, std::uint32_t most) {
    if (one.repeats && chunk == one.next_first && !one.will_pass(chunk)) one.begin_anew(chunk);
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

Streams::Alone Streams::alone(std::uint32_t thread) const {
    Alone all;
    for (std::size_t i = 0; i < remembered && all.found < all.chunks.size(); ++i) {
        const Seen& seen = seen_[(newest_ + remembered - i) % remembered];
        if (seen.when != 0 && seen.when + recent >= now_ && seen.thread == thread)
            all.chunks[all.found++] = seen.chunk;
    }
    return all;
}

void Streams::see(std::int64_t chunk, std::uint32_t thread) {
    newest_ = (newest_ + 1) % remembered;
    seen_[newest_] = {chunk, thread, now_};
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
