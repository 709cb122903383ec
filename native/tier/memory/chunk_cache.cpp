#include "tier/memory/chunk_cache.hpp"

#include "tier/base/messages.hpp"
#include "tier/fault/userfault.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace assay::tier {

namespace {

using State = Chunk::State;

constexpr std::size_t max_chunk = std::size_t{1} << 30; // io_uring counts in 32 bits.

/// Return the chunk sizes. Evicting without UFFDIO_MOVE temporarily creates a mapping (FrameAllocator) for
/// each chunk, and vm.max_map_count limits their number: single pages would exceed it.
ChunkSizes sizes_of(const PagerConfig& config, MapMethod map_method) {
    const std::size_t min = map_method == MapMethod::copy ? config.part_bytes : config.min_bytes;
    return {config.chunk_bytes, config.part_bytes, min};
}

/// Return the capacity in bytes.
std::size_t cache_bytes(const PagerConfig& config) {
    if (config.chunk_bytes < page || config.chunk_bytes > max_chunk ||
        (config.chunk_bytes & (config.chunk_bytes - 1)) != 0)
        throw std::runtime_error("invalid chunk size " + std::to_string(config.chunk_bytes) +
                                 ": use a power of two from 4096 to 1073741824");
    const std::size_t chunks = config.memory_bytes / config.chunk_bytes;
    if (chunks < ChunkCache::min_chunks)
        throw std::runtime_error("DRAM for " + std::to_string(chunks) + " chunks is too little: at least " +
                                 std::to_string(ChunkCache::min_chunks * config.chunk_bytes >> 20) +
                                 " MiB are needed");
    return chunks * config.chunk_bytes;
}

} // namespace

ChunkCache::ChunkCache(const PagerConfig& config)
    : map_method_(config.map_method ? *config.map_method : Userfault::support().best()), mapper_(map_method_),
      placement_(config.numa, config.root, config.cpu),
      pool_(map_method_, sizes_of(config, map_method_), cache_bytes(config), config.budget, placement_),
      transfers_(config), digests_(pool_.sizes()), policy_(pool_.max_bytes(), pool_.chunk_bytes()),
      deferred_(config.address_bytes / config.chunk_bytes) {
    resize(pool_.max_bytes());
}

void ChunkCache::resize(std::size_t max) {
    if (std::exchange(max_, max) == max) return;
    reserve_ = std::clamp(max / 32, 2 * chunk_bytes(), 16 * chunk_bytes());
    policy_.resize(max);
}

FetchGranularity::Clock ChunkCache::clock() const {
    // Limited for large memories: until a sample ends, chunks may be fetched that are larger than useful.
    constexpr std::size_t max = std::size_t{4} << 30;
    return {policy_.mapped_total_bytes(), std::min(policy_.lifetime_bytes(), max)};
}

// -- demand faults ------------------------------------------------------------------------------------------

void ChunkCache::demand(Chunk& chunk, Node node) {
    if (!try_serve(chunk, node)) defer(chunk, node);
}

bool ChunkCache::try_serve(Chunk& chunk, Node node) {
    switch (chunk.state) {
    case State::zero: {
        bool zero = false;
        if (!allocate_frame(chunk, node, zero)) return false;
        if (!zero) std::memset(chunk.frame, 0, chunk.bytes());
        chunk.state = State::unmapped;
        return map(chunk);
    }
    case State::write_queued:
        cancel_write(chunk);
        return map(chunk);
    case State::unmapped:
        return map(chunk);
    case State::stored:
        return read(chunk, node);
    case State::mapped:
    case State::lost:
        chunk.region->end_wait(chunk);
        mapper_.wake(chunk.at, chunk.bytes());
        return true;
    case State::reading:
    case State::writing:
    case State::discarded:
    case State::split: // Threads wait for its parts.
        return true;
    }
    return true;
}

void ChunkCache::defer(Chunk& chunk, Node node) {
    if (!chunk.deferred) deferred_.add(&chunk, node);
    chunk.deferred = true;
}

bool ChunkCache::retry_deferred() {
    std::size_t kept = 0, all = 0;
    // Entries may be appended meanwhile.
    for (; all < deferred_.size(); ++all) {
        const Deferred one = deferred_[all];
        one.chunk->deferred = !try_serve(*one.chunk, one.node);
        if (one.chunk->deferred) deferred_[kept++] = one;
    }
    while (deferred_.size() > kept) static_cast<void>(deferred_.take_last());
    return kept < all;
}

// -- transfers ----------------------------------------------------------------------------------------------

bool ChunkCache::read(Chunk& chunk, Node node) {
    bool zero = false;
    if (!allocate_frame(chunk, node, zero)) return false;
    if (transfers_.read(chunk)) return true;
    free_frame(chunk);
    return false;
}

Region* ChunkCache::complete_transfer() {
    Transfers::Completed ended{};
    if (!transfers_.next(ended)) return nullptr;
    // The region of a discarded chunk may be freed together with it.
    Region* const region = ended.chunk->region;
    if (ended.chunk->state == State::discarded)
        on_discarded(*ended.chunk);
    else if (ended.write)
        on_written(*ended.chunk, ended.error);
    else
        on_read(*ended.chunk, ended.error);
    return region;
}

void ChunkCache::on_read(Chunk& chunk, int error) {
    Region& region = *chunk.region;
    if (error != 0) {
        print_message({"a chunk could not be read from ", transfers_.path_of(chunk), " (",
                       ::strerrorname_np(error), "): accesses to it raise SIGBUS"});
        free_frame(chunk);
        chunk.state = State::lost;
        region.end_wait(chunk);
        return mapper_.poison(chunk);
    }
    region.meter_entry.counts.read_bytes += chunk.bytes();
    if (!chunk.has_digest && !chunk.dirty) {
        chunk.digest = digests_.digest(chunk);
        chunk.has_digest = true;
    }
    chunk.state = State::unmapped;
    // For parts, handling a fault takes as long as a transfer.
    const bool map_directly = region.level_of(chunk) > 0 && policy_.is_position_known(chunk);
    if (chunk.has_waiter) {
        if (!map(chunk)) defer(chunk, placement_.of(chunk.frame));
    } else if (!map_directly || !map(chunk)) {
        policy_.on_prefetched(chunk);
    }
}

void ChunkCache::on_written(Chunk& chunk, int error) {
    Region& region = *chunk.region;
    chunk.was_evicted = true;
    if (error == 0) {
        region.meter_entry.counts.written_bytes += chunk.bytes();
        chunk.dirty = false;
    } else {
        // The chunk stays in memory, so that no data are lost; another one is evicted instead.
        if (!write_failed_)
            print_message({"a chunk could not be written to ", transfers_.path_of(chunk), " (",
                           ::strerrorname_np(error),
                           "): it stays in memory; too many of them abort the program"});
        write_failed_ = true;
        chunk.has_digest = false;
        chunk.dirty = true;
        region.begin_wait(chunk);
    }
    if (chunk.has_waiter) {
        chunk.state = State::unmapped;
        if (!map(chunk)) return defer(chunk, placement_.of(chunk.frame));
        if (error != 0) policy_.on_removed(chunk);
        return;
    }
    free_frame(chunk);
    chunk.state = State::stored;
}

void ChunkCache::on_discarded(Chunk& chunk) {
    const Node node = placement_.of(chunk.frame); // The node of the waiting thread is no longer known.
    free_frame(chunk);
    chunk.state = State::zero;
    if (!chunk.region->removed && chunk.has_waiter) defer(chunk, node);
}

// -- mapping ------------------------------------------------------------------------------------------------

bool ChunkCache::map(Chunk& chunk) {
    const ChunkMapper::MapResult result = mapper_.map(chunk, pool_.of(chunk.bytes()));
    if (result == ChunkMapper::MapResult::retry) return false;
    chunk.frame = nullptr;
    chunk.state = State::mapped;
    chunk.region->end_wait(chunk);
    if (EvictionPolicy::is_second_chance(chunk))
        policy_.on_second_chance_hit(chunk);
    else
        policy_.on_mapped(chunk, chunk.was_evicted);
    if (result == ChunkMapper::MapResult::mapped) {
        merge_into_whole(chunk);
        return true;
    }
    policy_.on_removed(chunk);
    chunk.state = State::zero;
    chunk.stored = false;
    account_lost_pages(chunk);
    return true;
}

void ChunkCache::merge_into_whole(const Chunk& part) {
    Region& region = *part.region;
    const std::size_t whole = policy_.merge_level(part);
    for (std::size_t level = region.level_of(part); level > whole; --level) {
        Chunk& around = region.leaf_at(part.at, level - 1);
        const auto is_in = [](const Chunk& one) { return one.state == State::mapped; };
        if (!std::ranges::all_of(region.parts_of(around), is_in)) return;
        for (Chunk& one : region.parts_of(around)) policy_.on_removed(one);
        region.merge(around);
        digests_.combine(around, region.parts_of(around));
        policy_.on_merged(around);
        mapper_.keep_huge(around);
    }
}

bool ChunkCache::unmap(Chunk& chunk) {
    if (!take_pages(chunk)) return false;
    policy_.on_unmapped(chunk);
    return true;
}

bool ChunkCache::take_pages(Chunk& chunk) {
    switch (mapper_.take_pages(chunk, pool_.of(chunk.bytes()))) {
    case ChunkMapper::UnmapResult::taken:
        chunk.state = State::unmapped;
        return true;
    case ChunkMapper::UnmapResult::busy:
        policy_.postpone(chunk);
        return false;
    case ChunkMapper::UnmapResult::unmovable:
        policy_.pin(chunk);
        return false;
    }
    return false;
}

void ChunkCache::evict(Chunk& chunk) {
    if (chunk.state == State::mapped && !unmap(chunk)) return;
    // If the write-back queue is full, the chunk stays in the list for a second chance.
    if (chunk.state == State::unmapped && !chunk.has_waiter) static_cast<void>(evict_unmapped(chunk));
}

// -- reclaim ------------------------------------------------------------------------------------------------

bool ChunkCache::allocate_frame(Chunk& chunk, Node node, bool& zero) {
    do {
        chunk.frame = pool_.take(chunk.bytes(), node, zero);
        if (chunk.frame != nullptr) {
            chunk.region->meter_entry.held_bytes += chunk.bytes();
            return true;
        }
    } while (reclaim() == Reclaim::freed);
    return false;
}

void ChunkCache::free_frame(Chunk& chunk) {
    pool_.of(chunk.bytes()).free(std::exchange(chunk.frame, nullptr));
    chunk.region->meter_entry.held_bytes -= chunk.bytes();
}

void ChunkCache::account_lost_pages(Chunk& chunk) {
    placement_.on_freed(chunk.at, chunk.bytes());
    pool_.release(chunk.bytes());
    chunk.region->meter_entry.held_bytes -= chunk.bytes();
}

template <class Next>
bool ChunkCache::unmap_one(Next next) {
    constexpr int tries = 16;
    for (int i = 0; i < tries; ++i) {
        Chunk* const chunk = next();
        if (chunk == nullptr) return false;
        if (unmap(*chunk)) return true;
    }
    return false;
}

ChunkCache::Reclaim ChunkCache::reclaim() {
    // Enough write-back is in flight: more would evict chunks needlessly.
    if (transfers_.writing_bytes() >= std::max(reserve_, 8 * pool_.chunk_bytes())) return Reclaim::pending;
    if (Chunk* const chunk = policy_.next_to_evict(); chunk != nullptr) return evict_unmapped(*chunk);
    if (unmap_one([this] { return policy_.next_to_unmap(); })) return Reclaim::freed;
    if (Chunk* const chunk = policy_.last_resort(); chunk != nullptr) return evict_unmapped(*chunk);
    if (transfers_.writing_bytes() > 0) return Reclaim::pending;
    return unmap_one([this] { return policy_.next_pinned(); }) ? Reclaim::freed : Reclaim::none;
}

ChunkCache::Reclaim ChunkCache::evict_unmapped(Chunk& chunk) {
    Counts& counts = chunk.region->meter_entry.counts;
    const bool unused = chunk.list == Chunk::List::prefetched;
    bool same = unused;
    Digest digest{};
    if (!unused && !chunk.dirty) {
        digest = digests_.digest(chunk);
        same = chunk.stored ? chunk.has_digest && digest == chunk.digest : digests_.is_zero(chunk, digest);
    }
    if (same) {
        policy_.on_removed(chunk);
        ++(unused ? counts.unused_prefetches : counts.clean_evictions);
        // A sampled chunk is fetched as a whole on purpose; its parts say nothing about streams.
        Region& region = *chunk.region;
        if (const std::size_t level = region.fetch_level(); unused && region.level_of(chunk) <= level)
            region.levels[level].streams.on_unused();
        free_frame(chunk);
        chunk.state = chunk.stored ? State::stored : State::zero;
        chunk.was_evicted = true;
        return Reclaim::freed;
    }
    if (transfers_.full()) return transfers_.writing_bytes() > 0 ? Reclaim::pending : Reclaim::none;
    policy_.on_removed(chunk);
    transfers_.write(chunk);
    chunk.has_digest = !chunk.dirty;
    chunk.digest = digest;
    return Reclaim::pending;
}

void ChunkCache::cancel_write(Chunk& chunk) {
    transfers_.cancel_write(chunk);
    chunk.has_digest = false; // The content in the store is older.
}

void ChunkCache::keep_reserve() {
    while (free_bytes() < reserve_) {
        const std::size_t before = transfers_.writing_bytes();
        if (reclaim() != Reclaim::freed && transfers_.writing_bytes() == before) break;
    }
    constexpr int max_sampled = 8; // At a time, to bound the delay of faults.
    for (int i = 0; i < max_sampled; ++i) {
        Chunk* const chunk = policy_.next_to_sample();
        if (chunk == nullptr || !take_pages(*chunk)) break;
        policy_.on_sampled(*chunk);
    }
    while (policy_.mapped_bytes() > max_mapped_) {
        Chunk* const chunk = policy_.oldest_mapped();
        if (chunk == nullptr || !unmap(*chunk)) return;
    }
}

void ChunkCache::release_surplus(const Budget& budget) {
    while (budget.is_contended() && (budget.surplus_bytes() > 0 || pool_.own_free_bytes() > reserve_))
        if (!pool_.return_to_budget() && reclaim() != Reclaim::freed) return;
}

void ChunkCache::release_free() {
    while (pool_.return_to_budget()) {
    }
}

// -- discard ------------------------------------------------------------------------------------------------

void ChunkCache::discard(Chunk& chunk) {
    if (chunk.state == State::split) {
        for (Chunk& part : chunk.region->parts_of(chunk)) discard(part);
        return chunk.region->unsplit(chunk);
    }
    policy_.on_removed(chunk);
    if (chunk.state == State::write_queued) cancel_write(chunk);
    // Waiting threads repeat their access and fault again, or find the range unmapped.
    if (chunk.has_waiter) mapper_.wake(chunk.at, chunk.bytes());
    chunk.region->end_wait(chunk);
    chunk.dirty = chunk.has_digest = chunk.was_evicted = chunk.stored = false;
    if (chunk.state == State::reading || chunk.state == State::writing || chunk.state == State::discarded) {
        // Frame and store are in use until the transfer has completed.
        chunk.state = State::discarded;
        return;
    }
    if (chunk.state == State::mapped) account_lost_pages(chunk);
    if (chunk.state == State::unmapped) free_frame(chunk);
    chunk.state = State::zero;
}

void ChunkCache::discard(Region& region) {
    for (Chunk& chunk : region.chunks()) discard(chunk);
    for (std::size_t i = 0; i < deferred_.size();)
        if (deferred_[i].chunk->region == &region)
            deferred_[i] = deferred_.take_last();
        else
            ++i;
}

} // namespace assay::tier
