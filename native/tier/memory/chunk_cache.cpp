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

constexpr std::size_t most_chunk = std::size_t{1} << 30; // io_uring counts in 32 bits.

/// What leaves by copying is a mapping of its own for a while (Frames), as many of which a process may have
/// as vm.max_map_count says: pages would be too many.
Sizes sizes_of(const Means& means, Exchange exchange) {
    const std::size_t least = exchange == Exchange::copy ? means.part_bytes : means.least_bytes;
    return {means.chunk_bytes, means.part_bytes, least};
}

/// Bytes.
std::size_t room_for(const Means& means) {
    if (means.chunk_bytes < page || means.chunk_bytes > most_chunk ||
        (means.chunk_bytes & (means.chunk_bytes - 1)) != 0)
        throw std::runtime_error("a chunk of " + std::to_string(means.chunk_bytes) +
                                 " bytes cannot be had: give a power of two from 4096 to 1073741824");
    const std::size_t chunks = means.memory_bytes / means.chunk_bytes;
    if (chunks < Memory::least_chunks)
        throw std::runtime_error("memory for " + std::to_string(chunks) + " chunks is too little: at least " +
                                 std::to_string(Memory::least_chunks * means.chunk_bytes >> 20) +
                                 " MiB are needed");
    return chunks * means.chunk_bytes;
}

} // namespace

Memory::Memory(const Means& means)
    : exchange_(means.exchange ? *means.exchange : Userfault::offer().best()), mapping_(exchange_),
      placement_(means.numa, means.root, means.cpu),
      pool_(exchange_, sizes_of(means, exchange_), room_for(means), means.budget, placement_),
      transfers_(means), contents_(pool_.sizes()), residence_(pool_.most_bytes(), pool_.chunk()),
      starved_(means.address_bytes / means.chunk_bytes) {
    fit(pool_.most_bytes());
}

void Memory::fit(std::size_t most) {
    if (std::exchange(most_, most) == most) return;
    low_ = std::clamp(most / 32, 2 * chunk(), 16 * chunk());
    residence_.fit(most);
}

Grain::Clock Memory::clock() const {
    // Not too long where there is much memory, for until then larger chunks come than may be wanted.
    constexpr std::size_t most = std::size_t{4} << 30;
    return {residence_.came_bytes(), std::min(residence_.stay_bytes(), most)};
}

// -- what is waited for -------------------------------------------------------------------------------------

void Memory::want(Chunk& chunk, Node node) {
    if (!answer(chunk, node)) starve(chunk, node);
}

bool Memory::answer(Chunk& chunk, Node node) {
    switch (chunk.state) {
    case State::fresh: {
        bool zero = false;
        if (!take_frame(chunk, node, zero)) return false;
        if (!zero) std::memset(chunk.frame, 0, chunk.bytes());
        chunk.state = State::staged;
        return map(chunk);
    }
    case State::due:
        call_back(chunk);
        return map(chunk);
    case State::staged:
        return map(chunk);
    case State::out:
        return read(chunk, node);
    case State::in:
    case State::lost:
        chunk.region->end_wait(chunk);
        mapping_.wake(chunk.at, chunk.bytes());
        return true;
    case State::reading:
    case State::leaving:
    case State::dropped:
    case State::split: // Nobody waits for all of it.
        return true;
    }
    return true;
}

void Memory::starve(Chunk& chunk, Node node) {
    if (!chunk.starved) starved_.add(&chunk, node);
    chunk.starved = true;
}

bool Memory::go_on() {
    std::size_t kept = 0, all = 0;
    // More may be added meanwhile, at the end.
    for (; all < starved_.size(); ++all) {
        const Starved one = starved_[all];
        one.chunk->starved = !answer(*one.chunk, one.node);
        if (one.chunk->starved) starved_[kept++] = one;
    }
    while (starved_.size() > kept) static_cast<void>(starved_.take_last());
    return kept < all;
}

// -- to and from the store ----------------------------------------------------------------------------------

bool Memory::read(Chunk& chunk, Node node) {
    bool zero = false;
    if (!take_frame(chunk, node, zero)) return false;
    if (transfers_.read(chunk)) return true;
    give_frame(chunk);
    return false;
}

Region* Memory::take_transfer() {
    Transfers::Ended ended{};
    if (!transfers_.next(ended)) return nullptr;
    // Of a chunk that is given up, the region may be gone with it.
    Region* const region = ended.chunk->region;
    if (ended.chunk->state == State::dropped)
        ended_dropped(*ended.chunk);
    else if (ended.write)
        was_written(*ended.chunk, ended.error);
    else
        was_read(*ended.chunk, ended.error);
    return region;
}

void Memory::was_read(Chunk& chunk, int error) {
    Region& region = *chunk.region;
    if (error != 0) {
        say({"a chunk could not be read from ", transfers_.path_of(chunk), " (", ::strerrorname_np(error),
             "): what touches it ends in SIGBUS"});
        give_frame(chunk);
        chunk.state = State::lost;
        region.end_wait(chunk);
        return mapping_.lose(chunk);
    }
    region.shown.counts.read_bytes += chunk.bytes();
    if (!chunk.known && !chunk.written) {
        chunk.digest = contents_.digest(chunk);
        chunk.known = true;
    }
    chunk.state = State::staged;
    // Of parts a fault takes as long as a transfer.
    const bool straight = region.level_of(chunk) > 0 && residence_.need_not_tell(chunk);
    if (chunk.waited) {
        if (!map(chunk)) starve(chunk, placement_.of(chunk.frame));
    } else if (!straight || !map(chunk)) {
        residence_.brought(chunk);
    }
}

void Memory::was_written(Chunk& chunk, int error) {
    Region& region = *chunk.region;
    chunk.returns = true;
    if (error == 0) {
        region.shown.counts.written_bytes += chunk.bytes();
        chunk.written = false;
    } else {
        // It stays in memory, where nothing is lost; another is taken away in its place.
        if (!write_failed_)
            say({"a chunk could not be written to ", transfers_.path_of(chunk), " (",
                 ::strerrorname_np(error),
                 "): it stays in memory, and with too many of them the program ends"});
        write_failed_ = true;
        chunk.known = false;
        chunk.written = true;
        region.begin_wait(chunk);
    }
    if (chunk.waited) {
        chunk.state = State::staged;
        if (!map(chunk)) return starve(chunk, placement_.of(chunk.frame));
        if (error != 0) residence_.left(chunk);
        return;
    }
    give_frame(chunk);
    chunk.state = State::out;
}

void Memory::ended_dropped(Chunk& chunk) {
    const Node node = placement_.of(chunk.frame); // Who waits may be elsewhere; nobody knows any more.
    give_frame(chunk);
    chunk.state = State::fresh;
    if (!chunk.region->gone && chunk.waited) starve(chunk, node);
}

// -- mapping and unmapping ----------------------------------------------------------------------------------

bool Memory::map(Chunk& chunk) {
    const Mapping::Put put = mapping_.put(chunk, pool_.of(chunk.bytes()));
    if (put == Mapping::Put::later) return false;
    chunk.frame = nullptr;
    chunk.state = State::in;
    chunk.region->end_wait(chunk);
    if (Residence::is_unmapped(chunk))
        residence_.used_again(chunk);
    else
        residence_.came(chunk, chunk.returns);
    if (put == Mapping::Put::done) {
        merge_around(chunk);
        return true;
    }
    residence_.left(chunk);
    chunk.state = State::fresh;
    chunk.stored = false;
    pages_gone(chunk);
    return true;
}

void Memory::merge_around(const Chunk& part) {
    Region& region = *part.region;
    const std::size_t whole = residence_.whole_at(part);
    for (std::size_t level = region.level_of(part); level > whole; --level) {
        Chunk& around = region.piece_at(part.at, level - 1);
        const auto is_in = [](const Chunk& one) { return one.state == State::in; };
        if (!std::ranges::all_of(region.parts_of(around), is_in)) return;
        for (Chunk& one : region.parts_of(around)) residence_.left(one);
        region.merge(around);
        contents_.know(around, region.parts_of(around));
        residence_.merged(around);
        mapping_.grown(around);
    }
}

bool Memory::unmap(Chunk& chunk) {
    if (!take(chunk)) return false;
    residence_.set_aside(chunk);
    return true;
}

bool Memory::take(Chunk& chunk) {
    switch (mapping_.take(chunk, pool_.of(chunk.bytes()))) {
    case Mapping::Taken::done:
        chunk.state = State::staged;
        return true;
    case Mapping::Taken::later:
        residence_.postpone(chunk);
        return false;
    case Mapping::Taken::never:
        residence_.stick(chunk);
        return false;
    }
    return false;
}

void Memory::let_go(Chunk& chunk) {
    if (chunk.state == State::in && !unmap(chunk)) return;
    // Where there is no room among the transfers, it goes with those that were unmapped before.
    if (chunk.state == State::staged && !chunk.waited) static_cast<void>(leave(chunk));
}

// -- room ---------------------------------------------------------------------------------------------------

bool Memory::take_frame(Chunk& chunk, Node node, bool& zero) {
    do {
        chunk.frame = pool_.take(chunk.bytes(), node, zero);
        if (chunk.frame != nullptr) {
            chunk.region->shown.held_bytes += chunk.bytes();
            return true;
        }
    } while (make_room() == Room::made);
    return false;
}

void Memory::give_frame(Chunk& chunk) {
    pool_.of(chunk.bytes()).give(std::exchange(chunk.frame, nullptr));
    chunk.region->shown.held_bytes -= chunk.bytes();
}

void Memory::pages_gone(Chunk& chunk) {
    placement_.goes(chunk.at, chunk.bytes());
    pool_.gone(chunk.bytes());
    chunk.region->shown.held_bytes -= chunk.bytes();
}

template <class Next>
bool Memory::unmap_one(Next next) {
    constexpr int tries = 16;
    for (int i = 0; i < tries; ++i) {
        Chunk* const chunk = next();
        if (chunk == nullptr) return false;
        if (unmap(*chunk)) return true;
    }
    return false;
}

Memory::Room Memory::make_room() {
    // What is on its way is enough: more would be taken away than is needed.
    if (transfers_.writing_bytes() >= std::max(low_, 8 * pool_.chunk())) return Room::coming;
    if (Chunk* const chunk = residence_.next_to_leave(); chunk != nullptr) return leave(*chunk);
    if (unmap_one([this] { return residence_.next_to_unmap(); })) return Room::made;
    if (Chunk* const chunk = residence_.last_to_leave(); chunk != nullptr) return leave(*chunk);
    if (transfers_.writing_bytes() > 0) return Room::coming;
    return unmap_one([this] { return residence_.next_stuck(); }) ? Room::made : Room::none;
}

Memory::Room Memory::leave(Chunk& chunk) {
    Counts& counts = chunk.region->shown.counts;
    const bool wasted = chunk.place == Chunk::Place::ahead;
    bool same = wasted;
    Digest digest{};
    if (!wasted && !chunk.written) {
        digest = contents_.digest(chunk);
        same = chunk.stored ? chunk.known && digest == chunk.digest : contents_.is_zero(chunk, digest);
    }
    if (same) {
        residence_.left(chunk);
        ++(wasted ? counts.wasted : counts.unchanged);
        // What is watched is brought whole on purpose, so its parts say nothing about runs of chunks.
        Region& region = *chunk.region;
        if (const std::size_t level = region.wanted(); wasted && region.level_of(chunk) <= level)
            region.levels[level].streams.wasted();
        give_frame(chunk);
        chunk.state = chunk.stored ? State::out : State::fresh;
        chunk.returns = true;
        return Room::made;
    }
    if (transfers_.full()) return transfers_.writing_bytes() > 0 ? Room::coming : Room::none;
    residence_.left(chunk);
    transfers_.write(chunk);
    chunk.known = !chunk.written;
    chunk.digest = digest;
    return Room::coming;
}

void Memory::call_back(Chunk& chunk) {
    transfers_.call_back(chunk);
    chunk.known = false; // What the store has is older.
}

void Memory::keep_some_free() {
    while (free_bytes() < low_) {
        const std::size_t before = transfers_.writing_bytes();
        if (make_room() != Room::made && transfers_.writing_bytes() == before) break;
    }
    constexpr int most_watched = 8; // At a time: faults wait meanwhile.
    for (int i = 0; i < most_watched; ++i) {
        Chunk* const chunk = residence_.next_to_watch();
        if (chunk == nullptr || !take(*chunk)) break;
        residence_.watch(*chunk);
    }
    while (residence_.mapped_bytes() > most_mapped_) {
        Chunk* const chunk = residence_.oldest_mapped();
        if (chunk == nullptr || !unmap(*chunk)) return;
    }
}

void Memory::share(const Budget& budget) {
    while (budget.is_wanted() && (budget.surplus_bytes() > 0 || pool_.own_left_bytes() > low_))
        if (!pool_.give_back() && make_room() != Room::made) return;
}

void Memory::give_back() {
    while (pool_.give_back()) {
    }
}

// -- what is given up ---------------------------------------------------------------------------------------

void Memory::forget(Chunk& chunk) {
    if (chunk.state == State::split) {
        for (Chunk& part : chunk.region->parts_of(chunk)) forget(part);
        return chunk.region->join(chunk);
    }
    residence_.left(chunk);
    if (chunk.state == State::due) call_back(chunk);
    // What waits touches it again, and then it is as if it had not waited; or nothing is mapped there.
    if (chunk.waited) mapping_.wake(chunk.at, chunk.bytes());
    chunk.region->end_wait(chunk);
    chunk.written = chunk.known = chunk.returns = chunk.stored = false;
    if (chunk.state == State::reading || chunk.state == State::leaving || chunk.state == State::dropped) {
        // Neither its frame nor its place in the store is free before the transfer has ended.
        chunk.state = State::dropped;
        return;
    }
    if (chunk.state == State::in) pages_gone(chunk);
    if (chunk.state == State::staged) give_frame(chunk);
    chunk.state = State::fresh;
}

void Memory::forget(Region& region) {
    for (Chunk& chunk : region.chunks()) forget(chunk);
    for (std::size_t i = 0; i < starved_.size();)
        if (starved_[i].chunk->region == &region)
            starved_[i] = starved_.take_last();
        else
            ++i;
}

} // namespace assay::tier
