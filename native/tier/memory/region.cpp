#include "tier/memory/region.hpp"

#include <algorithm>
#include <bit>

namespace assay::tier {

using State = Chunk::State;

namespace {

/// Its size in a chunk.
void size(Chunk& chunk, std::size_t bytes) {
    chunk.shift = static_cast<unsigned>(std::countr_zero(bytes)) & 0x1fU;
}

} // namespace

Region::Region(std::byte* from, std::size_t length, const Sizes& of, std::size_t first_chunk,
               Meter::Entry& entry, Records& of_all)
    : base(from), bytes(length), sizes(of), first(first_chunk), shown(entry), records(of_all) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const bool last = i + 1 == sizes.size();
        levels[i] = {Table<Chunk>(length / sizes[i]),
                     {},
                     Grain(last ? 1 : sizes[i] / sizes[i + 1], last ? nullptr : &levels[i + 1].grain)};
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
    if ((chunk.state != State::out && chunk.state != State::fresh) || chunk.starved || next == sizes.size())
        return;
    const std::span<Chunk> parts = parts_of(chunk);
    if (const bool first_time = parts[0].region == nullptr; first_time) {
        if (records.bytes + parts.size_bytes() > records.most) return;
        records.bytes += parts.size_bytes();
        record_bytes += parts.size_bytes();
    }
    std::byte* at = chunk.at;
    for (Chunk& part : parts) {
        part = {.region = this,
                .at = at,
                .came = chunk.came,
                .state = chunk.state,
                .stored = chunk.stored,
                .returns = chunk.returns};
        size(part, sizes[next]);
        at += sizes[next];
    }
    chunk.state = State::split;
    chunk.known = chunk.written = false;
}

void Region::watch(Chunk& chunk) {
    split(chunk);
    if (chunk.state != State::split) return;
    Grain& of_parts = levels[level_of(chunk) + 1].grain;
    for (Chunk& part : parts_of(chunk))
        if (of_parts.watches_next(false)) watch(part);
}

void Region::join(Chunk& chunk) {
    const std::span<Chunk> parts = parts_of(chunk);
    for (Chunk& part : parts) {
        if (part.state == State::split) join(part);
        if ((part.state != State::out && part.state != State::fresh) || part.state != parts[0].state ||
            part.starved)
            return;
    }
    chunk.state = parts[0].state;
    chunk.stored = chunk.returns = chunk.state == State::out;
}

void Region::merge(Chunk& chunk) {
    const std::span<Chunk> parts = parts_of(chunk);
    chunk.state = State::in;
    chunk.came = parts[0].came;
    chunk.returns = parts[0].returns;
    chunk.stored = std::ranges::any_of(parts, [](const Chunk& part) { return part.stored; });
}

std::size_t Region::wanted() const {
    std::size_t level = 0;
    while (levels[level].grain.fine()) ++level;
    return level;
}

Chunk& Region::fitted_at(const std::byte* at, std::size_t level) {
    for (std::size_t i = 0; i < level; ++i) split(piece_at(at, i));
    Chunk& found = piece_at(at, level);
    if (found.state == State::split) join(found);
    return piece_at(at);
}

Chunk& Region::split_at(const std::byte* at, std::size_t level) {
    for (std::size_t i = 0; i < level; ++i)
        if (Chunk& around = piece_at(at, i); around.state == State::out) split(around);
    return piece_at(at, level);
}

void Region::be_told(Order told) {
    order = told;
    const bool random = told == Order::random, unknown = told == Order::unknown;
    levels[0].grain.tell(unknown ? std::nullopt : std::optional(random));
    // How much is used at each place shows.
    for (std::size_t i = 1; i < sizes.size(); ++i)
        levels[i].grain.tell(unknown || random ? std::nullopt : std::optional(false));
}

void Region::touched(const Chunk& chunk, const Grain::Clock& clock) {
    std::size_t level = level_of(chunk);
    while (level-- > 0) {
        const auto is_other = [this, &chunk](const Chunk& part) {
            const bool around = chunk.at >= part.at && chunk.at < part.at + part.bytes();
            return !around && is_mapped(part);
        };
        const std::span<Chunk> parts = parts_of(piece_at(chunk.at, level));
        levels[level].grain.touched(
            number(chunk.at, level), number(chunk.at, level + 1) % parts.size(), clock,
            [&] { return static_cast<std::size_t>(std::ranges::count_if(parts, is_other)); });
    }
}

/// Time goes by for each chunk that is waited for.
void Region::count_wait() {
    const Nanos now = now_ns();
    shown.counts.stall_ns += waiting * static_cast<std::uint64_t>(now - waiting_since);
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

bool Region::is_mapped(const Chunk& chunk) {
    return chunk.state == State::in ||
           (chunk.state == State::split &&
            std::ranges::all_of(parts_of(chunk), [this](const Chunk& part) { return is_mapped(part); }));
}

} // namespace assay::tier
