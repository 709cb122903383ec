#include "tier/region.hpp"

#include <time.h>

#include <algorithm>

namespace assay::tier {

using State = Chunk::State;

namespace {

std::uint64_t now_ns() {
    timespec now = {};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

} // namespace

Region::Region(std::byte* from, std::size_t length, std::size_t chunk, std::size_t part,
               std::size_t first_chunk, Meter::Entry& entry)
    : base(from), bytes(length), chunk_bytes(chunk), part_bytes(part), first(first_chunk),
      chunks(length / chunk), parts(length / part), grain(chunk / part), shown(entry) {
    for (std::size_t i = 0; i < length / chunk; ++i) {
        Chunk& one = chunks.add();
        one.region = this;
        one.at = base + i * chunk;
        one.bytes = static_cast<std::uint32_t>(chunk);
    }
    parts.fill(length / part);
}

void Region::split(Chunk& chunk) {
    if ((chunk.state != State::out && chunk.state != State::fresh) || chunk.starved ||
        part_bytes == chunk_bytes)
        return;
    std::byte* at = chunk.at;
    for (Chunk& part : parts_of(chunk)) {
        part = {.region = this,
                .at = at,
                .bytes = static_cast<std::uint32_t>(part_bytes),
                .state = chunk.state,
                .stored = chunk.stored,
                .returns = chunk.returns};
        at += part_bytes;
    }
    chunk.state = State::split;
    chunk.known = chunk.written = false;
}

void Region::join(Chunk& chunk) {
    const std::span<Chunk> all = parts_of(chunk);
    const State state = all.front().state;
    if (state != State::out && state != State::fresh) return;
    if (!std::ranges::all_of(all, [state](const Chunk& p) { return p.state == state && !p.starved; })) return;
    chunk.state = state;
    chunk.stored = chunk.returns = state == State::out;
}

/// Time goes by for each chunk that is waited for.
void Region::count_wait() {
    const std::uint64_t now = now_ns();
    shown.counts.stall_ns += waiting * (now - waiting_since);
    waiting_since = now;
}

void Region::begin_wait(Chunk& chunk) {
    if (chunk.waited) return;
    count_wait();
    ++waiting;
    chunk.waited = true;
}

void Region::end_wait(Chunk& chunk) {
    if (!chunk.waited) return;
    count_wait();
    --waiting;
    chunk.waited = false;
}

std::size_t Region::mapped_parts(const Chunk& chunk) {
    return static_cast<std::size_t>(
        std::ranges::count_if(parts_of(chunk), [](const Chunk& p) { return p.state == State::in; }));
}

bool Region::is_mapped(const Chunk& chunk) {
    return chunk.state == State::in ||
           (chunk.state == State::split && mapped_parts(chunk) == chunk_bytes / part_bytes);
}

} // namespace assay::tier
