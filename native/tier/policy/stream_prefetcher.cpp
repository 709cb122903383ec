#include "tier/policy/stream_prefetcher.hpp"

#include <algorithm>
#include <utility>

namespace assay::tier {

namespace {

using State = Chunk::State;

constexpr std::size_t max_parts_ahead = 128;
constexpr std::size_t max_requests = 1 << 12;

} // namespace

StreamPrefetcher::StreamPrefetcher(ChunkCache& cache) : cache_(cache), requests_(max_requests) {
    resize();
}

void StreamPrefetcher::resize() {
    const std::size_t max = cache_.max_bytes(), chunk = cache_.chunk_bytes();
    window_ = std::clamp(max / 16, 4 * chunk, 16 * chunk);
    // Even the smallest memory can hold the window of one stream.
    max_bytes_ = std::max(max / 4, std::min(window_ + 2 * chunk, max / 2));
}

std::uint32_t StreamPrefetcher::max_window(std::size_t step) const {
    return static_cast<std::uint32_t>(std::min(window_ / step, max_parts_ahead));
}

const StreamDetector::Stream* StreamPrefetcher::stream_of(Region& region, const Chunk& chunk,
                                                          std::uint32_t thread) {
    if (region.pattern == AccessPattern::random) return nullptr;
    const std::size_t level = region.fetch_level(), step = region.sizes[level];
    StreamDetector& streams = region.levels[level].streams;
    const auto number = static_cast<std::int64_t>(region.number(chunk.at, level));
    // The first fault on a split chunk represents all of its parts.
    const bool split = region.leaf_at(chunk.at, level).state == State::split;
    if (split && streams.is_at(number, thread)) return nullptr;
    const auto mapped = [&region, level, step](std::int64_t i) {
        const Chunk& one = region.leaf_at(region.base + static_cast<std::size_t>(i) * step, level);
        return region.is_mapped(one) || region.is_tail_padding(one);
    };
    const auto count = static_cast<std::int64_t>(region.bytes / step);
    const std::uint32_t max = max_window(step);
    const StreamDetector::Stream* stream = streams.follow(number, count, thread, max, mapped);
    if (region.pattern == AccessPattern::sequential && (stream == nullptr || stream->stride < 0))
        stream = streams.add_sequential(number, thread, max);
    latest_streams_[faults_++ % latest_streams_.size()] = stream;
    return stream;
}

std::uint32_t StreamPrefetcher::stream_share(std::size_t step) const {
    constexpr std::size_t min = 2;
    std::size_t streams = 0;
    for (auto one = latest_streams_.begin(); one != latest_streams_.end(); ++one)
        if (*one != nullptr && std::find(latest_streams_.begin(), one, *one) == one) ++streams;
    return static_cast<std::uint32_t>(std::max(max_bytes_ / step / std::max(streams, std::size_t{1}), min));
}

bool StreamPrefetcher::is_sole_stream(const StreamDetector::Stream& stream) const {
    const std::size_t size = latest_streams_.size();
    return latest_streams_[(faults_ + size - 1) % size] == &stream &&
           latest_streams_[(faults_ + size - 2) % size] == &stream;
}

void StreamPrefetcher::prefetch_along(Region& region, const StreamDetector::Stream& stream, Node node) {
    const std::size_t level = region.fetch_level(), step = region.sizes[level];
    const auto count = static_cast<std::int64_t>(region.bytes / step);
    std::int64_t number = stream.last;
    bool wrapped = false;
    std::uint32_t ahead = 0;
    // For an established stream, part of the prefetched chunks are mapped before their use and counted as
    // used. For parts, a fault takes as long as a transfer. For chunks it takes about 0.1 ms: an idle CPU is
    // woken twice, and once more for a TLB flush. With several streams, each would take probation space from
    // the others.
    const std::uint32_t part = level > 0 ? 4 : 8;
    const bool maps_directly = cache_.is_mapping_unlimited() && (level > 0 || is_sole_stream(stream));
    const std::uint32_t window = std::min(stream.window, stream_share(step));
    std::uint32_t map_directly = maps_directly ? window / part : 0;
    for (std::int64_t steps = 0; ahead < window && steps < count; ++steps) {
        const std::int64_t before = number;
        number = stream.next(number, count);
        const auto within = [count](std::int64_t i) { return i >= 0 && i < count; };
        if (!within(number)) {
            if (!stream.is_repeating || wrapped || !within(stream.next_first)) return;
            number = stream.next_first;
            wrapped = true;
        }
        // A stream that began with the first chunk may sweep again, as may one that wrapped around before or
        // restarts a little further on each time.
        if (stream.wraps(before, number)) {
            if (stream.window < max_window(step)) return;
            if (stream.first != number) {
                if (!stream.is_repeating || wrapped || !within(stream.next_first)) return;
                number = within(stream.next_first - stream.stride) ? stream.next_first - stream.stride
                                                                   : stream.next_first;
                wrapped = true;
            }
        }
        std::byte* const at = region.base + static_cast<std::size_t>(number) * step;
        Chunk& piece = region.split_at(at, level);
        if (region.is_tail_padding(piece)) continue;
        if (piece.state == State::split) region.unsplit(piece);
        if (piece.state == State::stored && region.level_of(piece) == level &&
            region.levels[level].granularity.samples_next(false))
            region.split_for_sampling(piece);
        if (map_directly > 0 && piece.state == State::unmapped) {
            region.on_access(piece, cache_.clock());
            --map_directly;
            if (cache_.map(piece)) {
                ++region.meter_entry.counts.prefetch_hits;
                continue;
            }
        }
        const Prefetch done = prefetch(piece, node);
        if (done == Prefetch::blocked) {
            // Space is about to be freed by write-back.
            if (cache_.transfers().writing_bytes() > 0) interrupted_ = {&region, &stream, level, node};
            return;
        }
        if (done == Prefetch::issued) ++ahead;
    }
}

void StreamPrefetcher::resume() {
    const Interrupted one = std::exchange(interrupted_, {});
    if (one.region != nullptr && one.level == one.region->fetch_level())
        prefetch_along(*one.region, *one.stream, one.node);
}

void StreamPrefetcher::forget(const Region& region) {
    if (interrupted_.region == &region) interrupted_ = {};
}

StreamPrefetcher::Prefetch StreamPrefetcher::prefetch(Chunk& chunk, Node node) {
    switch (chunk.state) {
    case State::mapped:
        return Prefetch::resident;
    case State::zero:
    case State::lost:
        return Prefetch::blocked;
    case State::split: {
        Prefetch all = Prefetch::resident;
        for (Chunk& part : chunk.region->parts_of(chunk))
            if (!prefetch_part(part, node, all)) break;
        return all;
    }
    case State::stored:
        if (is_limit_reached()) {
            Chunk* const oldest = cache_.policy().oldest_prefetched();
            if (oldest == nullptr || cache_.evict_unmapped(*oldest) != ChunkCache::Reclaim::freed)
                return Prefetch::blocked;
        }
        return cache_.read(chunk, node) ? Prefetch::issued : Prefetch::blocked;
    default:
        return Prefetch::issued;
    }
}

void StreamPrefetcher::request(std::byte* at, std::size_t bytes, Node node) {
    if (!requests_.full()) requests_.add(at, bytes, node); // Advice may be dropped.
}

StreamPrefetcher::Prefetch StreamPrefetcher::prefetch(Region& region, const Request& request) {
    const std::size_t level = region.fetch_level();
    Prefetch all = Prefetch::resident;
    for (std::byte* at = request.at; at < request.at + request.bytes;) {
        Chunk& piece = region.split_at(at, level);
        at = piece.at + piece.bytes();
        if (!prefetch_part(piece, request.node, all)) break;
    }
    return all;
}

bool StreamPrefetcher::prefetch_part(Chunk& chunk, Node node, Prefetch& all) {
    if (chunk.state == State::zero || chunk.state == State::lost) return true;
    const Prefetch one = prefetch(chunk, node);
    if (one != Prefetch::resident) all = one;
    return one != Prefetch::blocked;
}

void StreamPrefetcher::prefetch_requested(const RegionIndex& regions) {
    std::size_t done = 0;
    for (; done < requests_.size() && !is_limit_reached(); ++done) {
        const Request one = requests_[done];
        Region* const region = regions.at(one.at);
        if (region != nullptr && prefetch(*region, one) == Prefetch::blocked &&
            cache_.transfers().writing_bytes() > 0)
            break; // Space is about to be freed.
    }
    requests_.remove_first(done);
}

} // namespace assay::tier
