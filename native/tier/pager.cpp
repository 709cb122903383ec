#include "tier/pager.hpp"

#include "tier/quiet.hpp"
#include "tier/say.hpp"

#include <poll.h>
#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>

namespace assay::tier {

namespace {

using State = Chunk::State;

constexpr std::size_t most_regions = 1 << 16;
constexpr std::size_t most_chunk = std::size_t{1} << 30; // io_uring counts in 32 bits.
constexpr std::size_t most_parts_ahead = 128;
constexpr std::size_t most_expected = 1 << 12;

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
    if (chunks < Pager::least_chunks)
        throw std::runtime_error("memory for " + std::to_string(chunks) + " chunks is too little: at least " +
                                 std::to_string(Pager::least_chunks * means.chunk_bytes >> 20) +
                                 " MiB are needed");
    return chunks * means.chunk_bytes;
}

} // namespace

Exchange Pager::exchange_of(const Means& means) {
    return means.exchange ? *means.exchange : Userfault::offer().best();
}

Pager::Pager(const Means& means, Exchange exchange)
    : mapping_(exchange), placement_(means.numa, means.root), budget_(means.budget),
      pool_(exchange, sizes_of(means, exchange), room_for(means), means.budget, placement_),
      transfers_(means), contents_(pool_.sizes()), residence_(pool_.most_bytes(), pool_.chunk()),
      meter_(most_regions, means.memory_bytes, means.chunk_bytes), trace_folder_(means.trace_folder),
      replay_folder_(means.replay_folder), regions_(most_regions), expected_(most_expected),
      starved_(means.address_bytes / means.chunk_bytes),
      copies_unasked_(exchange == Exchange::copy && !means.exchange) {
    fit(pool_.most_bytes());
    // Signals are the program's: none is to arrive in a thread that it does not know.
    const Quiet quiet;
    thread_ = std::thread([this] { work(); });
}

Pager::~Pager() {
    {
        const std::lock_guard lock(lock_);
        over_ = true;
    }
    wake_.signal();
    thread_.join();
}

Region* Pager::add(std::byte* at, std::size_t bytes) {
    // Not from malloc: what that gives may itself be in a region, which the pager must not touch.
    void* const room = sys::map(sizeof(Region));
    if (room == nullptr) return nullptr;
    const Quiet quiet;
    const std::lock_guard lock(lock_);
    if (std::exchange(copies_unasked_, false))
        say({"this kernel copies pages where Linux 6.8 moves them: memory that the kernel or a device fills "
             "while the program goes on (io_uring, a GPU) must not be among what storage stands behind"});
    if (budget_ != nullptr && !budget_->join(least_chunks * pool_.chunk())) {
        sys::unmap(room, sizeof(Region));
        errno = ENOMEM;
        return nullptr;
    }
    std::size_t first = 0;
    int error = regions_.full() ? ENOMEM : transfers_.store().reserve(bytes / pool_.chunk(), first);
    if (error == 0) {
        Meter::Entry& shown = meter_.begin(at, bytes);
        Region* region = nullptr;
        try {
            region = new (room) Region(at, bytes, pool_.sizes(), first, shown, records_);
            error = mapping_.watch(at, bytes);
        } catch (const std::bad_alloc&) {
            error = ENOMEM; // There are no addresses for its chunks (RLIMIT_AS).
        }
        if (error == 0) {
            begin_traces();
            region->ordinal = regions_ever_++;
            if (recorder_) recorder_->began(bytes / pool_.chunk());
            if (future_) future_->began(*region);
            regions_.add(region);
            std::ranges::sort(regions_, {}, &Region::base);
            wake_.signal(); // From the first one on others are listened to.
            return region;
        }
        transfers_.store().release(first, bytes / pool_.chunk());
        meter_.end(shown);
        if (region != nullptr) region->~Region();
    }
    sys::unmap(room, sizeof(Region));
    errno = error;
    return nullptr;
}

void Pager::remove(Region& region) {
    const Quiet quiet;
    const std::lock_guard lock(lock_);
    const std::size_t place =
        static_cast<std::size_t>(std::ranges::find(regions_, &region) - regions_.begin());
    regions_.remove(place);
    if (unfinished_.region == &region) unfinished_ = {};
    for (Chunk& chunk : region.chunks()) forget(chunk);
    if (future_) future_->ended(region);
    for (std::size_t i = 0; i < starved_.size();)
        if (starved_[i].chunk->region == &region)
            starved_[i] = starved_.take_last();
        else
            ++i;
    region.gone = true;
    region.shown.bytes = 0; // Nobody sees it any more, whenever its last transfer ends.
    free_where_idle(region);
    if (budget_ != nullptr && regions_.empty()) wake_.signal();
}

void Pager::free_where_idle(Region& region) {
    if (!region.gone || region.transfers > 0) return;
    transfers_.store().release(region.first, region.chunks().size());
    meter_.end(region.shown);
    region.~Region();
    sys::unmap(&region, sizeof(Region));
}

Counts Pager::counts(const Region& region) {
    const Quiet quiet;
    const std::lock_guard lock(lock_);
    return region.shown.counts;
}

Region* Pager::region_at(const std::byte* at) {
    auto* const after = std::ranges::upper_bound(regions_, at, {}, [](const Region* r) { return r->base; });
    if (after == regions_.begin()) return nullptr;
    Region* const region = *(after - 1);
    return region->holds(at) ? region : nullptr;
}

// -- the thread ---------------------------------------------------------------------------------------------

void Pager::work() {
    ::prctl(PR_SET_NAME, thread_name);
    {
        const std::lock_guard lock(lock_);
        placement_.begin_thread();
    }
    std::array<pollfd, 4> events{{{mapping_.ready(), POLLIN, 0},
                                  {transfers_.ready(), POLLIN, 0},
                                  {wake_.fd(), POLLIN, 0},
                                  {-1, POLLIN, 0}}};
    // Pages that are in use may be free in a moment, and nobody tells; ten seconds of that are no moment.
    // Counted in turns in which nothing came and nothing was on its way: a program that was stopped meanwhile
    // has waited for nothing, and a disk may take its time.
    constexpr int retry_ms = 1, most_retries = 10'000;
    // So long may it take until others of the budget are heard, where they cannot wake this thread.
    constexpr int share_ms = 50;
    int retries = 0, idle_ms = -1;
    for (;;) {
        const bool quiet = ::poll(events.data(), events.size(), retries > 0 ? retry_ms : idle_ms) == 0;
        const std::lock_guard lock(lock_);
        if (over_) return;
        static_cast<void>(wake_.clear());
        if (budget_ != nullptr && !regions_.empty()) {
            events.back().fd = budget_->news();
            idle_ms = budget_->news() < 0 ? share_ms : -1;
            budget_->clear_news();
        }
        bool any = false;
        while (serve()) any = true;
        retries = starved_.empty() && !transfers_.is_behind() ? 0
                  : any ? 1
                        : std::max(retries, 1) + (quiet && transfers_.count() == 0 ? 1 : 0);
        if (retries > most_retries)
            give_up(
                {"no memory can be freed for what the program touches: give it more (--dram), or a disk that "
                 "can be written"});
    }
}

bool Pager::serve() {
    bool any = take_messages();
    any = take_transfers() || any;
    any = answer_starved() || any;
    if (any && unfinished_.region != nullptr) {
        const Unfinished one = std::exchange(unfinished_, {});
        if (one.level == one.region->wanted()) look_ahead(*one.region, *one.run, one.node);
    }
    if (future_) foresee();
    if (future_) bring_foreseen();
    bring_expected();
    transfers_.begin(); // What is waited for does not wait for room that others will need.
    pool_.set_aside(records_.bytes + (future_ ? future_->bytes() : 0));
    share();
    keep_some_free();
    if (recorder_) show_touches();
    transfers_.begin();
    return any;
}

void Pager::fit(std::size_t most) {
    if (std::exchange(most_, most) == most) return;
    const std::size_t chunk = pool_.chunk();
    low_ = std::clamp(most / 32, 2 * chunk, 16 * chunk);
    window_ = std::clamp(most / 16, 4 * chunk, 16 * chunk);
    // Of the least memory too there is room for what one run wants.
    most_ahead_ = std::max(most / 4, std::min(window_ + 2 * chunk, most / 2));
    records_.most = most / 4;
    residence_.fit(most);
}

void Pager::share() {
    if (budget_ == nullptr) return;
    if (regions_.empty()) {
        while (pool_.give_back()) {
        }
        return;
    }
    fit(std::min(budget_->limit_bytes(), pool_.most_bytes()));
    while (budget_->is_wanted() && (budget_->surplus_bytes() > 0 || pool_.own_left_bytes() > low_))
        if (!pool_.give_back() && make_room() != Room::made) return;
}

bool Pager::take_messages() {
    mapping_.read();
    bool any = false;
    for (uffd_msg message{}; mapping_.next(message); any = true) {
        if (message.event == UFFD_EVENT_PAGEFAULT) {
            const auto& one = message.arg.pagefault;
            fault(reinterpret_cast<std::byte*>(one.address),
                  one.feat.ptid, // NOLINT: the kernel gives a number
                  (one.flags & UFFD_PAGEFAULT_FLAG_WRITE) != 0);
        } else if (message.event == UFFD_EVENT_REMAP) {
            give_up(
                {"the program moves memory by a system call of its own (mremap), which cannot be followed: "
                 "run it without the tier"});
        } else if (message.event == UFFD_EVENT_UNMAP) {
            const auto& one = message.arg.remove;
            unmapped(reinterpret_cast<std::byte*>(one.start),
                     reinterpret_cast<std::byte*>(one.end)); // NOLINT
        }
    }
    return any;
}

bool Pager::take_transfers() {
    bool any = false;
    for (Transfers::Ended ended{}; transfers_.next(ended); any = true) {
        Region& region = *ended.chunk->region;
        if (ended.write)
            was_written(*ended.chunk, ended.error);
        else
            was_read(*ended.chunk, ended.error);
        free_where_idle(region);
    }
    return any;
}

bool Pager::answer_starved() {
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

void Pager::starve(Chunk& chunk, Node node) {
    if (!chunk.starved) starved_.add(&chunk, node);
    chunk.starved = true;
}

void Pager::keep_some_free() {
    while (pool_.left_bytes() + transfers_.writing_bytes() < low_) {
        const std::size_t before = transfers_.writing_bytes();
        if (make_room() != Room::made && transfers_.writing_bytes() == before) return;
    }
}

// -- what is touched ----------------------------------------------------------------------------------------

void Pager::fault(std::byte* at, std::uint32_t thread, bool writes) {
    Region* const region = region_at(at);
    // Unmapped meanwhile: whoever touches it again learns so from the kernel.
    if (region == nullptr) return mapping_.wake(at, page);
    const auto foreseen = future_ ? future_->level_at(*region, at) : std::nullopt;
    Chunk* chunk = &region->fitted_at(at, foreseen.value_or(region->wanted()));
    const Node node = newest_node_ = placement_.wanted_by(thread);
    if (chunk->state == State::in) {
        // Another thread was before it, or the program has given the page back (MADV_DONTNEED) and finds
        // zeros.
        const auto preference = placement_.prefer(node);
        return mapping_.fill(at);
    }
    if (chunk->state == State::lost) return mapping_.wake(at, page);
    const Streams::Stream* const run = future_ ? nullptr : run_of(*region, *chunk, thread);
    const std::size_t wanted = region->wanted();
    if (!future_ && chunk->state == State::out && region->level_of(*chunk) == wanted &&
        region->levels[wanted].grain.watches_next(run == nullptr)) {
        region->watch(*chunk);
        chunk = &region->piece_at(at);
    }
    region->touched(*chunk, clock());
    if (recorder_ && chunk->place == Chunk::Place::aside) recorder_->touched_again();
    if (recorder_) recorder_->touched(region->touch_of(at, wanted));
    if (future_ && !future_->touched(*region, at)) residence_.surprised();
    if (writes) chunk->written = true;
    if (!chunk->waited) count(*chunk);
    region->begin_wait(*chunk);
    if (!answer(*chunk, node)) starve(*chunk, node);
    // Where larger chunks are wanted, the rest of one that is split comes with any part of it.
    if (foreseen) return;
    Chunk& whole = region->piece_at(at, wanted);
    if (whole.state == State::split) static_cast<void>(bring_ahead(whole, node));
    if (run != nullptr) look_ahead(*region, *run, node);
}

Grain::Clock Pager::clock() const {
    // Not too long where there is much memory, for until then larger chunks come than may be wanted.
    constexpr std::size_t most = std::size_t{4} << 30;
    return {residence_.came_bytes(), std::min(most_ / 2, most)};
}

void Pager::count(const Chunk& chunk) {
    Counts& counts = chunk.region->shown.counts;
    switch (chunk.state) {
    case State::fresh:
        ++counts.first;
        break;
    case State::staged:
        ++(chunk.place == Chunk::Place::aside ? counts.again : counts.staged);
        break;
    case State::out:
        ++counts.demand;
        break;
    default:
        ++counts.late;
    }
}

bool Pager::answer(Chunk& chunk, Node node) {
    switch (chunk.state) {
    case State::fresh: {
        bool zero = false;
        if (!take_frame(chunk, node, zero)) return false;
        if (!zero) std::memset(chunk.frame, 0, chunk.bytes());
        chunk.state = State::staged;
        return map(chunk);
    }
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

const Streams::Stream* Pager::run_of(Region& region, const Chunk& chunk, std::uint32_t thread) {
    if (region.order == Order::random) return nullptr;
    const std::size_t level = region.wanted(), step = region.sizes[level];
    Streams& streams = region.levels[level].streams;
    const auto number = static_cast<std::int64_t>(region.number(chunk.at, level));
    // Of a chunk that is split, the first part that is touched stands for all.
    const bool split = region.piece_at(chunk.at, level).state == State::split;
    if (split && streams.is_at(number, thread)) return nullptr;
    const auto mapped = [&region, level, step](std::int64_t i) {
        return region.is_mapped(region.piece_at(region.base + static_cast<std::size_t>(i) * step, level));
    };
    const auto most = static_cast<std::uint32_t>(std::min(window_ / step, most_parts_ahead));
    const Streams::Stream* const run = streams.follow(number, thread, most, mapped);
    if (region.order != Order::sequential || (run != nullptr && run->stride > 0)) return run;
    return streams.assume(number, thread, most);
}

// -- what is known of another run ---------------------------------------------------------------------------

void Pager::begin_traces() {
    const std::size_t number = budget_ == nullptr ? 0 : budget_->before();
    try {
        if (!trace_folder_.empty()) recorder_.emplace(trace_path(trace_folder_, number), pool_.sizes());
        if (recorder_) recorder_->map(std::clamp(most_ / 8, 4 * pool_.chunk(), 8 * pool_.chunk()));
    } catch (const std::exception& error) {
        say({"touches are not recorded: ", error.what()});
    }
    const std::string path = trace_path(replay_folder_, number);
    try {
        if (!replay_folder_.empty()) future_.emplace(Trace(path, pool_.sizes()), pool_.sizes());
        if (future_ && future_->bytes() > most_ / 4)
            throw std::runtime_error("it takes more than a quarter of DRAM (--dram)");
        if (future_) {
            const std::size_t chunk = pool_.chunk();
            residence_.foresee(&*future_, std::max(4 * chunk, std::min(future_->newest_bytes(), most_ / 4)));
        }
    } catch (const std::exception& error) {
        future_.reset();
        say({"touches are not foreseen by ", path, ": ", error.what()});
    }
    trace_folder_.clear();
    replay_folder_.clear();
}

void Pager::foresee() {
    if (future_->is_known()) return;
    if (future_->is_lost()) say({"the program does something else than was recorded: nothing is foreseen"});
    residence_.foresee(nullptr, 0);
    future_.reset();
}

void Pager::show_touches() {
    while (residence_.mapped_bytes() > recorder_->mapped_bytes()) {
        Chunk* const chunk = residence_.oldest_mapped();
        if (chunk == nullptr || !unmap(*chunk)) return;
    }
}

/// Only of what is touched later.
bool Pager::make_room_until(std::size_t when, std::size_t bytes) {
    for (;;) {
        const std::size_t writing = transfers_.writing_bytes();
        if (pool_.left_bytes() + writing >= low_ + bytes) return true;
        const auto last = future_->last();
        if (!last || last->when <= when) return false;
        if (make_room() != Room::made && transfers_.writing_bytes() == writing) return false;
    }
}

void Pager::bring_foreseen() {
    while (const auto coming = future_->next(most_)) {
        Region& region = *coming->region;
        for (std::size_t i = 0; i < coming->level; ++i)
            if (Chunk& around = region.piece_at(coming->at, i); around.state == State::out)
                region.split(around);
        Chunk& chunk = region.piece_at(coming->at, coming->level);
        if (chunk.state == State::out || chunk.state == State::split) {
            // What is brought sooner than it must be takes the place of what is used over and over.
            const bool enough = bytes_ahead() >= window_ + 2 * pool_.chunk();
            if (enough || !make_room_until(coming->when, chunk.bytes())) return;
            if (bring_ahead(chunk, newest_node_) == Ahead::no_further) return;
        } else if (region.level_of(chunk) < coming->level) {
            future_->covered_by(chunk);
        }
        future_->pass();
    }
}

void Pager::look_ahead(Region& region, const Streams::Stream& run, Node node) {
    const std::size_t level = region.wanted(), step = region.sizes[level];
    const std::size_t count = region.bytes / step;
    std::int64_t number = run.last;
    bool turned = false;
    std::uint32_t ahead = 0;
    // Of parts a fault takes as long as a transfer: what is there already of a run that was followed for a
    // while is mapped before it is touched, and counts as used.
    std::uint32_t straight = level > 0 && !recorder_ ? run.window / 4 : 0;
    for (std::size_t steps = 0; ahead < run.window && steps < count; ++steps) {
        number += run.stride;
        const auto within = [count](std::int64_t i) {
            return i >= 0 && i < static_cast<std::int64_t>(count);
        };
        if (!within(number)) {
            if (!run.repeats || turned || !within(run.next_first)) return;
            number = run.next_first;
            turned = true;
        }
        std::byte* const at = region.base + static_cast<std::size_t>(number) * step;
        for (std::size_t i = 0; i < level; ++i)
            if (Chunk& around = region.piece_at(at, i); around.state == State::out) region.split(around);
        Chunk& piece = region.piece_at(at, level);
        if (piece.state == State::split) region.join(piece);
        if (piece.state == State::out && region.level_of(piece) == level &&
            region.levels[level].grain.watches_next(false))
            region.watch(piece);
        if (straight > 0 && piece.state == State::staged && map(piece)) {
            --straight;
            region.touched(piece, clock());
            continue;
        }
        const Ahead done = bring_ahead(piece, node);
        if (done == Ahead::no_further) {
            // Where what is in the way is being written, there is room in a moment.
            if (transfers_.writing_bytes() > 0) unfinished_ = {&region, &run, level, node};
            return;
        }
        if (done == Ahead::brought) ++ahead;
    }
}

/// What a run will touch, or all parts of it.
Pager::Ahead Pager::bring_ahead(Chunk& chunk, Node node) {
    switch (chunk.state) {
    case State::in:
        return Ahead::there;
    case State::fresh:
    case State::lost:
        return Ahead::no_further;
    case State::split: {
        Ahead all = Ahead::there;
        for (Chunk& part : chunk.region->parts_of(chunk)) {
            if (part.state == State::fresh || part.state == State::lost) continue;
            const Ahead one = bring_ahead(part, node);
            if (one == Ahead::no_further) return one;
            if (one == Ahead::brought) all = one;
        }
        return all;
    }
    case State::out:
        if (enough_ahead()) {
            Chunk* const oldest = residence_.oldest_ahead();
            if (oldest == nullptr || leave(*oldest) != Room::made) return Ahead::no_further;
        }
        return read(chunk, node) ? Ahead::brought : Ahead::no_further;
    default:
        return Ahead::brought;
    }
}

bool Pager::read(Chunk& chunk, Node node) {
    bool zero = false;
    if (!take_frame(chunk, node, zero)) return false;
    if (transfers_.read(chunk)) return true;
    give_frame(chunk);
    return false;
}

void Pager::was_read(Chunk& chunk, int error) {
    Region& region = *chunk.region;
    if (chunk.state == State::dropped) return ended_dropped(chunk);
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
    const bool straight = future_ && region.level_of(chunk) > 0 && !future_->tells(chunk);
    if (chunk.waited) {
        if (!map(chunk)) starve(chunk, placement_.of(chunk.frame));
    } else if (!straight || !map(chunk)) {
        residence_.brought(chunk);
    }
}

// -- mapping and unmapping ----------------------------------------------------------------------------------

bool Pager::map(Chunk& chunk) {
    const Mapping::Put put = mapping_.put(chunk, pool_.of(chunk.bytes()));
    if (put == Mapping::Put::later) return false;
    chunk.frame = nullptr;
    chunk.state = State::in;
    chunk.region->end_wait(chunk);
    if (chunk.place == Chunk::Place::aside)
        residence_.used_again(chunk);
    else
        residence_.came(chunk, chunk.returns);
    if (put == Mapping::Put::done) return true;
    residence_.left(chunk);
    chunk.state = State::fresh;
    chunk.stored = false;
    pages_gone(chunk);
    return true;
}

bool Pager::unmap(Chunk& chunk) {
    switch (mapping_.take(chunk, pool_.of(chunk.bytes()))) {
    case Mapping::Taken::done:
        chunk.state = State::staged;
        residence_.set_aside(chunk);
        return true;
    case Mapping::Taken::later:
        residence_.postpone(chunk);
        return false;
    case Mapping::Taken::never:
        residence_.left(chunk);
        return false;
    }
    return false;
}

// -- room ---------------------------------------------------------------------------------------------------

bool Pager::take_frame(Chunk& chunk, Node node, bool& zero) {
    do {
        chunk.frame = pool_.take(chunk.bytes(), node, zero);
        if (chunk.frame != nullptr) {
            chunk.region->shown.held_bytes += chunk.bytes();
            return true;
        }
    } while (make_room() == Room::made);
    return false;
}

void Pager::give_frame(Chunk& chunk) {
    pool_.of(chunk.bytes()).give(std::exchange(chunk.frame, nullptr));
    chunk.region->shown.held_bytes -= chunk.bytes();
}

void Pager::pages_gone(Chunk& chunk) {
    placement_.goes(chunk.at, chunk.bytes());
    pool_.gone(chunk.bytes());
    chunk.region->shown.held_bytes -= chunk.bytes();
}

Pager::Room Pager::make_room() {
    // What is on its way is enough: more would be taken away than is needed.
    if (transfers_.writing_bytes() >= std::max(low_, 8 * pool_.chunk())) return Room::coming;
    if (Chunk* const chunk = residence_.next_to_leave(); chunk != nullptr) return leave(*chunk);
    constexpr int tries = 16;
    for (int i = 0; i < tries; ++i) {
        Chunk* const chunk = residence_.next_to_unmap();
        if (chunk == nullptr) break;
        if (unmap(*chunk)) return Room::made;
    }
    if (Chunk* const chunk = residence_.last_to_leave(); chunk != nullptr) return leave(*chunk);
    return transfers_.writing_bytes() > 0 ? Room::coming : Room::none;
}

/// A chunk in a frame that nobody touched: what it holds goes to the store, where it is not there already.
Pager::Room Pager::leave(Chunk& chunk) {
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
    if (!transfers_.write(chunk)) return transfers_.writing_bytes() > 0 ? Room::coming : Room::none;
    residence_.left(chunk);
    chunk.known = !chunk.written;
    chunk.digest = digest;
    return Room::coming;
}

void Pager::was_written(Chunk& chunk, int error) {
    Region& region = *chunk.region;
    if (chunk.state == State::dropped) return ended_dropped(chunk);
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

// -- what is given up ---------------------------------------------------------------------------------------

void Pager::forget(Chunk& chunk) {
    if (chunk.state == State::split) {
        for (Chunk& part : chunk.region->parts_of(chunk)) forget(part);
        return chunk.region->join(chunk);
    }
    residence_.left(chunk);
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

void Pager::ended_dropped(Chunk& chunk) {
    const Node node = placement_.of(chunk.frame); // Who waits may be elsewhere; nobody knows any more.
    give_frame(chunk);
    chunk.state = State::fresh;
    if (!chunk.region->gone && chunk.waited) starve(chunk, node);
}

void Pager::unmapped(std::byte* from, std::byte* to) {
    for (Region* const region : regions_) {
        std::byte* const first = std::max(from, region->base);
        std::byte* const last = std::min(to, region->base + region->bytes);
        for (std::byte* at = first; at < last;) {
            Chunk& chunk = region->chunk_at(at);
            unmapped(chunk, first, last);
            at = chunk.at + chunk.bytes();
        }
    }
}

/// All of a chunk, or of its parts, that lies between two addresses.
void Pager::unmapped(Chunk& chunk, const std::byte* from, const std::byte* to) {
    if (chunk.at >= from && chunk.at + chunk.bytes() <= to) return forget(chunk);
    if (chunk.state != State::split || chunk.at >= to || chunk.at + chunk.bytes() <= from) return;
    for (Chunk& part : chunk.region->parts_of(chunk)) unmapped(part, from, to);
}

bool Pager::discard(std::byte* at) {
    bool discarded = false;
    {
        const Quiet quiet;
        const std::lock_guard lock(lock_);
        discarded = try_discard(at);
        // What was read meanwhile is of the regions that there are now.
        take_messages();
    }
    wake_.signal();
    return discarded;
}

bool Pager::try_discard(std::byte* at) {
    Region* const region = region_at(at);
    if (region == nullptr) return false;
    Chunk& chunk = region->chunk_at(at);
    bool all = true;
    region->for_each_piece(
        chunk, [this, &all](Chunk& piece) { all = all && (piece.state != State::in || unmap(piece)); });
    if (all) forget(chunk);
    return all;
}

void Pager::expect(Region& region, Order order) {
    const Quiet quiet;
    const std::lock_guard lock(lock_);
    region.order = order;
    const bool random = order == Order::random, unknown = order == Order::unknown;
    region.levels[0].grain.tell(unknown ? std::nullopt : std::optional(random));
    // How much is used at each place shows.
    for (std::size_t i = 1; i < region.sizes.size(); ++i)
        region.levels[i].grain.tell(unknown || random ? std::nullopt : std::optional(false));
}

void Pager::done(std::byte* at) {
    {
        const Quiet quiet;
        const std::lock_guard lock(lock_);
        Region* const region = region_at(at);
        if (region == nullptr) return;
        region->for_each_piece(region->chunk_at(at), [this](Chunk& piece) { let_go(piece); });
        take_messages();
    }
    wake_.signal();
}

void Pager::let_go(Chunk& chunk) {
    if (chunk.state == State::in && !unmap(chunk)) return;
    // Where there is no room among the transfers, it goes with those that were unmapped before.
    if (chunk.state == State::staged && !chunk.waited) static_cast<void>(leave(chunk));
}

void Pager::expect(std::byte* at) {
    {
        const Quiet quiet;
        const std::lock_guard lock(lock_);
        if (expected_.full()) return; // It is advice.
        expected_.add(at, placement_.wanted_here());
    }
    wake_.signal();
}

void Pager::bring_expected() {
    std::size_t done = 0;
    for (; done < expected_.size() && !enough_ahead(); ++done) {
        const Expected one = expected_[done];
        Region* const region = region_at(one.at);
        if (region != nullptr && bring_ahead(region->chunk_at(one.at), one.node) == Ahead::no_further &&
            transfers_.writing_bytes() > 0)
            break; // There is room in a moment.
    }
    expected_.remove_first(done);
}

} // namespace assay::tier
