#include "tier/policy/stream_prefetcher.hpp"

#include <algorithm>
#include <utility>

namespace assay::tier {

namespace {

using State = Chunk::State;

constexpr std::size_t most_parts_ahead = 128;
constexpr std::size_t most_expected = 1 << 12;

} // namespace

LookAhead::LookAhead(Memory& memory) : memory_(memory), expected_(most_expected) {
    fit();
}

void LookAhead::fit() {
    const std::size_t most = memory_.most_bytes(), chunk = memory_.chunk();
    window_ = std::clamp(most / 16, 4 * chunk, 16 * chunk);
    // Of the least memory too there is room for what one run wants.
    most_ = std::max(most / 4, std::min(window_ + 2 * chunk, most / 2));
}

std::uint32_t LookAhead::most_of(std::size_t step) const {
    return static_cast<std::uint32_t>(std::min(window_ / step, most_parts_ahead));
}

const Streams::Stream* LookAhead::run_of(Region& region, const Chunk& chunk, std::uint32_t thread) {
    if (region.order == Order::random) return nullptr;
    const std::size_t level = region.wanted(), step = region.sizes[level];
    Streams& streams = region.levels[level].streams;
    const auto number = static_cast<std::int64_t>(region.number(chunk.at, level));
    // Of a chunk that is split, the first part that is touched stands for all.
    const bool split = region.piece_at(chunk.at, level).state == State::split;
    if (split && streams.is_at(number, thread)) return nullptr;
    const auto mapped = [&region, level, step](std::int64_t i) {
        const Chunk& one = region.piece_at(region.base + static_cast<std::size_t>(i) * step, level);
        return region.is_mapped(one) || region.is_rest(one);
    };
    const auto count = static_cast<std::int64_t>(region.bytes / step);
    const std::uint32_t most = most_of(step);
    const Streams::Stream* run = streams.follow(number, count, thread, most, mapped);
    if (region.order == Order::sequential && (run == nullptr || run->stride < 0))
        run = streams.assume(number, thread, most);
    latest_[touches_++ % latest_.size()] = run;
    return run;
}

std::uint32_t LookAhead::share_of(std::size_t step) const {
    constexpr std::size_t least = 2;
    std::size_t runs = 0;
    for (auto one = latest_.begin(); one != latest_.end(); ++one)
        if (*one != nullptr && std::find(latest_.begin(), one, *one) == one) ++runs;
    return static_cast<std::uint32_t>(std::max(most_ / step / std::max(runs, std::size_t{1}), least));
}

bool LookAhead::is_alone(const Streams::Stream& run) const {
    const std::size_t size = latest_.size();
    return latest_[(touches_ + size - 1) % size] == &run && latest_[(touches_ + size - 2) % size] == &run;
}

void LookAhead::follow(Region& region, const Streams::Stream& run, Node node) {
    const std::size_t level = region.wanted(), step = region.sizes[level];
    const auto count = static_cast<std::int64_t>(region.bytes / step);
    std::int64_t number = run.last;
    bool turned = false;
    std::uint32_t ahead = 0;
    // What is there already of a run that was followed for a while is mapped before it is touched, and counts
    // as used: of parts a fault takes as long as a transfer; of chunks, about 0.1 ms, in which an idle
    // processor is woken twice and once more to flush its TLB. Of several runs in turn each would take the
    // room of what passes from the others.
    const std::uint32_t part = level > 0 ? 4 : 8;
    const bool straightens = memory_.maps_freely() && (level > 0 || is_alone(run));
    const std::uint32_t window = std::min(run.window, share_of(step));
    std::uint32_t straight = straightens ? window / part : 0;
    for (std::int64_t steps = 0; ahead < window && steps < count; ++steps) {
        const std::int64_t before = number;
        number = run.next(number, count);
        const auto within = [count](std::int64_t i) { return i >= 0 && i < count; };
        if (!within(number)) {
            if (!run.repeats || turned || !within(run.next_first)) return;
            number = run.next_first;
            turned = true;
        }
        // Who began with the first and has come so far goes through all of it once more, perhaps; so does who
        // has come round before, or begins a little further on each time.
        if (run.comes_round(before, number)) {
            if (run.window < most_of(step)) return;
            if (run.first != number) {
                if (!run.repeats || turned || !within(run.next_first)) return;
                number = within(run.next_first - run.stride) ? run.next_first - run.stride : run.next_first;
                turned = true;
            }
        }
        std::byte* const at = region.base + static_cast<std::size_t>(number) * step;
        Chunk& piece = region.split_at(at, level);
        if (region.is_rest(piece)) continue;
        if (piece.state == State::split) region.join(piece);
        if (piece.state == State::out && region.level_of(piece) == level &&
            region.levels[level].grain.watches_next(false))
            region.watch(piece);
        if (straight > 0 && piece.state == State::staged) {
            region.touched(piece, memory_.clock());
            --straight;
            if (memory_.map(piece)) {
                ++region.shown.counts.staged;
                continue;
            }
        }
        const Ahead done = bring(piece, node);
        if (done == Ahead::no_further) {
            // Where what is in the way is being written, there is room in a moment.
            if (memory_.transfers().writing_bytes() > 0) unfinished_ = {&region, &run, level, node};
            return;
        }
        if (done == Ahead::brought) ++ahead;
    }
}

void LookAhead::go_on() {
    const Unfinished one = std::exchange(unfinished_, {});
    if (one.region != nullptr && one.level == one.region->wanted()) follow(*one.region, *one.run, one.node);
}

void LookAhead::forget(const Region& region) {
    if (unfinished_.region == &region) unfinished_ = {};
}

LookAhead::Ahead LookAhead::bring(Chunk& chunk, Node node) {
    switch (chunk.state) {
    case State::in:
        return Ahead::there;
    case State::fresh:
    case State::lost:
        return Ahead::no_further;
    case State::split: {
        Ahead all = Ahead::there;
        for (Chunk& part : chunk.region->parts_of(chunk))
            if (!bring_too(part, node, all)) break;
        return all;
    }
    case State::out:
        if (has_enough()) {
            Chunk* const oldest = memory_.residence().oldest_ahead();
            if (oldest == nullptr || memory_.leave(*oldest) != Memory::Room::made) return Ahead::no_further;
        }
        return memory_.read(chunk, node) ? Ahead::brought : Ahead::no_further;
    default:
        return Ahead::brought;
    }
}

void LookAhead::expect(std::byte* at, std::size_t bytes, Node node) {
    if (!expected_.full()) expected_.add(at, bytes, node); // It is advice.
}

LookAhead::Ahead LookAhead::bring(Region& region, const Expected& expected) {
    const std::size_t level = region.wanted();
    Ahead all = Ahead::there;
    for (std::byte* at = expected.at; at < expected.at + expected.bytes;) {
        Chunk& piece = region.split_at(at, level);
        at = piece.at + piece.bytes();
        if (!bring_too(piece, expected.node, all)) break;
    }
    return all;
}

bool LookAhead::bring_too(Chunk& chunk, Node node, Ahead& all) {
    if (chunk.state == State::fresh || chunk.state == State::lost) return true;
    const Ahead one = bring(chunk, node);
    if (one != Ahead::there) all = one;
    return one != Ahead::no_further;
}

void LookAhead::bring_expected(const Regions& regions) {
    std::size_t done = 0;
    for (; done < expected_.size() && !has_enough(); ++done) {
        const Expected one = expected_[done];
        Region* const region = regions.at(one.at);
        if (region != nullptr && bring(*region, one) == Ahead::no_further &&
            memory_.transfers().writing_bytes() > 0)
            break; // There is room in a moment.
    }
    expected_.remove_first(done);
}

} // namespace assay::tier
