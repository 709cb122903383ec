#include "tier/policy/trace_prefetcher.hpp"

#include "tier/base/messages.hpp"

#include <algorithm>
#include <stdexcept>

namespace assay::tier {

namespace {

using State = Chunk::State;

} // namespace

TracePrefetcher::TracePrefetcher(const PagerConfig& config, ChunkCache& cache, StreamPrefetcher& prefetcher)
    : cache_(cache), prefetcher_(prefetcher), budget_(config.budget), trace_folder_(config.trace_folder),
      replay_folder_(config.replay_folder) {}

void TracePrefetcher::start() {
    const std::size_t number = budget_ == nullptr ? 0 : budget_->joined_before();
    if (!trace_folder_.empty()) record(number);
    if (!replay_folder_.empty()) replay(number);
}

void TracePrefetcher::record(std::size_t number) {
    try {
        const std::size_t chunk = cache_.chunk_bytes();
        recorder_.emplace(trace_path(trace_folder_, number), cache_.sizes());
        recorder_->set_mapped_limit(std::clamp(cache_.max_bytes() / 8, 4 * chunk, 8 * chunk));
        cache_.limit_mapped(recorder_->mapped_bytes());
    } catch (const std::exception& error) {
        print_message({"accesses are not recorded: ", error.what()});
    }
}

void TracePrefetcher::replay(std::size_t number) {
    const std::string path = trace_path(replay_folder_, number);
    try {
        const std::size_t max = cache_.max_bytes() / 4;
        const std::runtime_error too_long("it needs more than a quarter of the DRAM (--dram)");
        const AccessTrace trace(path, cache_.sizes());
        if (trace.size() * sizeof(std::uint64_t) > max) throw too_long;
        next_use_.emplace(trace, cache_.sizes());
        if (next_use_->bytes() > max) throw too_long;
        cache_.policy().follow_trace(
            &*next_use_, std::max(4 * cache_.chunk_bytes(), std::min(next_use_->recent_bytes(), max)));
    } catch (const std::exception& error) {
        next_use_.reset();
        print_message({"no prefetch by the trace ", path, ": ", error.what()});
    }
}

void TracePrefetcher::region_added(Region& region) {
    if (!started_) start();
    started_ = true;
    region.ordinal = region_count_++;
    if (recorder_) recorder_->region_added(region.bytes / cache_.chunk_bytes());
    if (next_use_) next_use_->region_added(region);
}

void TracePrefetcher::region_removed(const Region& region) {
    if (next_use_) next_use_->region_removed(region);
}

std::optional<std::size_t> TracePrefetcher::level_at(const Region& region, const std::byte* at) const {
    return next_use_ ? next_use_->level_at(region, at) : std::nullopt;
}

bool TracePrefetcher::on_access(const Region& region, const Chunk& chunk, const std::byte* at) {
    if (recorder_) {
        if (chunk.list == Chunk::List::second_chance) recorder_->on_second_chance_hit();
        recorder_->on_access(region.access_of(at, region.fetch_level()));
        cache_.limit_mapped(recorder_->mapped_bytes());
    }
    if (!next_use_) return false;
    const bool found = next_use_->on_access(region, at);
    if (!found) cache_.policy().on_unpredicted_access();
    return found;
}

void TracePrefetcher::stop() {
    if (next_use_->has_diverged())
        print_message({"the program has diverged from the recorded trace, which is no longer used"});
    cache_.policy().follow_trace(nullptr, 0);
    next_use_.reset();
}

void TracePrefetcher::reassemble(Chunk& whole) {
    if (!next_use_) return;
    next_use_->reassemble(whole);
    whole.region->for_each_leaf(whole, [this](Chunk& part) {
        if (part.state == State::unmapped && !part.deferred && !next_use_->reveals_position(part))
            static_cast<void>(cache_.map(part));
    });
}

bool TracePrefetcher::reclaim_until(std::size_t when, std::size_t bytes) {
    for (;;) {
        if (cache_.free_bytes() >= cache_.reserve_bytes() + bytes) return true;
        const std::size_t writing = cache_.transfers().writing_bytes();
        const auto last = next_use_->farthest();
        if (!last || last->when <= when) return false;
        if (cache_.reclaim() != ChunkCache::Reclaim::freed && cache_.transfers().writing_bytes() == writing)
            return false;
    }
}

void TracePrefetcher::prefetch(Node node) {
    if (next_use_ && !next_use_->is_valid()) stop();
    if (!next_use_) return;
    while (const auto upcoming = next_use_->next(cache_.max_bytes())) {
        Region& region = *upcoming->region;
        Chunk& chunk = region.split_at(upcoming->at, upcoming->level);
        if (chunk.state == State::split) region.unsplit(chunk);
        if (chunk.state == State::stored || chunk.state == State::split) {
            // Prefetching too early would evict frequently used chunks.
            if (prefetcher_.is_window_full() || !reclaim_until(upcoming->when, chunk.bytes())) return;
            if (chunk.state == State::split) reassemble(chunk);
            if (prefetcher_.prefetch(chunk, node) == StreamPrefetcher::Prefetch::blocked) return;
        } else if (region.level_of(chunk) < upcoming->level) {
            next_use_->covered_by(chunk);
        }
        next_use_->skip();
    }
}

} // namespace assay::tier
