#include "tier/streams.hpp"

#include <algorithm>

namespace assay::tier {

Streams::Stream& Streams::go_on(Stream& one, std::int64_t chunk, std::uint32_t thread, std::uint32_t most) {
    if (one.repeats && chunk == one.next_first) one.begin_anew();
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

/// A neighbour of the fault before it begins a run at once, as long as that serves; other strides are taken
/// where they come twice.
Streams::Stream* Streams::begin(std::int64_t chunk, std::uint32_t thread, std::uint32_t most) {
    std::array<std::int64_t, 2> before{};
    std::size_t found = 0;
    for (std::size_t i = 0; i < remembered && found < before.size(); ++i) {
        const Seen& seen = seen_[(newest_ + remembered - i) % remembered];
        if (seen.when != 0 && seen.when + recent >= now_ && seen.thread == thread)
            before[found++] = seen.chunk;
    }
    newest_ = (newest_ + 1) % remembered;
    seen_[newest_] = {chunk, thread, now_};
    if (found == 0) return nullptr;
    const std::int64_t stride = chunk - before[0];
    const bool neighbour = (stride == 1 || stride == -1) && !misleads();
    if (stride == 0 || (!neighbour && (found < 2 || before[0] - before[1] != stride))) return nullptr;
    const std::int64_t first = neighbour ? before[0] : before[1];
    // A run with the same stride, which began elsewhere: a matrix by columns. Then the next begins as far on.
    for (Stream& one : streams_)
        if (one.used != 0 && one.thread == thread && one.stride == stride && first != one.first) {
            one.next_first = 2 * first - one.first;
            one.repeats = true;
            one.first = first;
            one.last = chunk;
            one.used = now_;
            return &one;
        }
    Stream& one = oldest();
    one = {.last = chunk,
           .stride = stride,
           .thread = thread,
           .window = std::min(first_window, most),
           .used = now_,
           .first = first};
    return &one;
}

} // namespace assay::tier
