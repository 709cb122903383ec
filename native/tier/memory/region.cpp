#include "tier/memory/region.hpp"

#include <algorithm>
#include <bit>

namespace assay::tier {

using State = Chunk::State;

namespace {

/// Set the size of a chunk.
void size(Chunk& chunk, std::size_t bytes) {
    chunk.shift = static_cast<unsigned>(std::countr_zero(bytes)) & 0x1fU;
}

} // namespace

Region::Region(std::byte* from, std::size_t length, const ChunkSizes& of, std::size_t first_chunk,
               Meter::Entry& entry, MetadataBudget& shared_metadata)
    : base(from), bytes(length), sizes(of), first_store_chunk(first_chunk), meter_entry(entry),
      metadata(shared_metadata) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const bool last = i + 1 == sizes.size();
        levels[i] = {Table<Chunk>(length / sizes[i]),
                     {},
                     FetchGranularity(last ? 1 : sizes[i] / sizes[i + 1],
                                      last ? nullptr : &levels[i + 1].granularity)};
        levels[i].chunks.fill(length / sizes[i]);
    }
    std::byte* at = base;
    for (Chunk& chunk : chunks()) {
        chunk = {.region = this, .at = at};
        size(chunk, sizes[0]);
        at += sizes[0];
    }
}

void Region::split(Chunk& chunk) {
    const std::size_t next = level_of(chunk) + 1;
    if ((chunk.state != State::stored && chunk.state != State::zero) || chunk.deferred ||
        next == sizes.size())
        return;
    const std::span<Chunk> parts = parts_of(chunk);
    if (const bool first_time = parts[0].region == nullptr; first_time) {
        if (metadata.bytes + parts.size_bytes() > metadata.max) return;
        metadata.bytes += parts.size_bytes();
        metadata_bytes += parts.size_bytes();
    }
    std::byte* at = chunk.at;
    for (Chunk& part : parts) {
        part = {.region = this,
                .at = at,
                .mapped_at = chunk.mapped_at,
                .state = chunk.state,
                .stored = chunk.stored,
                .was_evicted = chunk.was_evicted};
        size(part, sizes[next]);
        at += sizes[next];
    }
    chunk.state = State::split;
    chunk.has_digest = chunk.dirty = false;
}

void Region::split_for_sampling(Chunk& chunk) {
    split(chunk);
    if (chunk.state != State::split) return;
    FetchGranularity& of_parts = levels[level_of(chunk) + 1].granularity;
    for (Chunk& part : parts_of(chunk))
        if (of_parts.samples_next(false)) split_for_sampling(part);
}

void Region::unsplit(Chunk& chunk) {
    const std::span<Chunk> parts = parts_of(chunk);
    for (Chunk& part : parts) {
        if (part.state == State::split) unsplit(part);
        if ((part.state != State::stored && part.state != State::zero) || part.state != parts[0].state ||
            part.deferred)
            return;
    }
    chunk.state = parts[0].state;
    chunk.stored = chunk.was_evicted = chunk.state == State::stored;
}

void Region::merge(Chunk& chunk) {
    const std::span<Chunk> parts = parts_of(chunk);
    chunk.state = State::mapped;
    chunk.mapped_at = parts[0].mapped_at;
    chunk.was_evicted = parts[0].was_evicted;
    chunk.stored = std::ranges::any_of(parts, [](const Chunk& part) { return part.stored; });
}

std::size_t Region::fetch_level() const {
    std::size_t level = 0;
    while (levels[level].granularity.uses_parts()) ++level;
    return level;
}

Chunk& Region::resized_at(const std::byte* at, std::size_t level) {
    for (std::size_t i = 0; i < level; ++i) split(leaf_at(at, i));
    Chunk& found = leaf_at(at, level);
    if (found.state == State::split) unsplit(found);
    return leaf_at(at);
}

Chunk& Region::split_at(const std::byte* at, std::size_t level) {
    for (std::size_t i = 0; i < level; ++i)
        if (Chunk& around = leaf_at(at, i); around.state == State::stored) split(around);
    return leaf_at(at, level);
}

void Region::set_pattern(AccessPattern wanted) {
    pattern = wanted;
    const bool random = wanted == AccessPattern::random, unknown = wanted == AccessPattern::unknown;
    levels[0].granularity.fix(unknown ? std::nullopt : std::optional(random));
    // The use of parts is still sampled.
    for (std::size_t i = 1; i < sizes.size(); ++i)
        levels[i].granularity.fix(unknown || random ? std::nullopt : std::optional(false));
}

void Region::on_access(const Chunk& chunk, const FetchGranularity::Clock& clock) {
    std::size_t level = level_of(chunk);
    while (level-- > 0) {
        const auto is_other = [this, &chunk](const Chunk& part) {
            const bool around = chunk.at >= part.at && chunk.at < part.at + part.bytes();
            return !around && is_mapped(part);
        };
        const std::span<Chunk> parts = parts_of(leaf_at(chunk.at, level));
        levels[level].granularity.on_access(
            number(chunk.at, level), number(chunk.at, level + 1) % parts.size(), clock,
            [&] { return static_cast<std::size_t>(std::ranges::count_if(parts, is_other)); });
    }
}

/// Add the waiting time of each chunk with a waiting thread.
void Region::count_wait() {
    const Nanos now = now_ns();
    meter_entry.counts.stall_ns += waiting_chunks * static_cast<std::uint64_t>(now - waiting_since);
    waiting_since = now;
}

void Region::begin_wait(Chunk& chunk) {
    if (chunk.has_waiter) return;
    count_wait();
    ++waiting_chunks;
    chunk.has_waiter = true;
}

void Region::end_wait(Chunk& chunk) {
    if (!chunk.has_waiter) return;
    count_wait();
    --waiting_chunks;
    chunk.has_waiter = false;
}

bool Region::is_mapped(const Chunk& chunk) {
    return chunk.state == State::mapped ||
           (chunk.state == State::split &&
            std::ranges::all_of(parts_of(chunk), [this](const Chunk& part) { return is_mapped(part); }));
}

} // namespace assay::tier
