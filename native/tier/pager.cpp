#include "tier/pager.hpp"

#include "tier/quiet.hpp"
#include "tier/say.hpp"

#include <poll.h>
#include <sched.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace assay::tier {

namespace {

using State = Chunk::State;

constexpr std::size_t most_regions = 1 << 16;

std::uint64_t random_seed() {
    std::uint64_t seed = 0;
    if (::getrandom(&seed, sizeof seed, 0) != sizeof seed)
        throw std::system_error(errno, std::generic_category(), "getrandom");
    return seed;
}

std::size_t room_for(const Means& means) {
    if (means.chunk_bytes < page || (means.chunk_bytes & (means.chunk_bytes - 1)) != 0)
        throw std::runtime_error("a chunk of " + std::to_string(means.chunk_bytes) +
                                 " bytes cannot be had: give a power of two, 4096 or more");
    const std::size_t chunks = means.memory_bytes / means.chunk_bytes;
    if (chunks < Pager::least_chunks)
        throw std::runtime_error("memory for " + std::to_string(chunks) + " chunks is too little: at least " +
                                 std::to_string(Pager::least_chunks * means.chunk_bytes >> 20) +
                                 " MiB are needed");
    return chunks;
}

std::unique_ptr<Disk> disk_of(const Means& means, const Store& store) {
    return means.disk ? means.disk(store, means.depth) : any_disk(store, means.depth);
}

} // namespace

Pager::Pager(const Means& means)
    : fault_(UFFD_FEATURE_MOVE | UFFD_FEATURE_THREAD_ID | UFFD_FEATURE_EVENT_UNMAP |
             UFFD_FEATURE_EVENT_REMAP | UFFD_FEATURE_POISON),
      frames_(means.chunk_bytes, room_for(means)),
      store_(means.paths, means.chunk_bytes, means.address_bytes / means.chunk_bytes),
      disk_(disk_of(means, store_)), residence_(frames_.most()), seed_(random_seed()),
      low_(std::clamp(frames_.most() / 16, std::size_t{2}, std::size_t{32})),
      most_ahead_(std::max(frames_.most() / 4, std::size_t{2})), zeros_(sys::map(means.chunk_bytes)),
      regions_(most_regions), starved_(means.address_bytes / means.chunk_bytes) {
    if (zeros_ == nullptr) throw std::bad_alloc();
    zero_ = digest_of(zeros_, means.chunk_bytes, seed_);
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
    sys::unmap(zeros_, frames_.chunk());
}

Region* Pager::add(std::byte* at, std::size_t bytes) {
    // Not from malloc: what that gives may itself be in a region, which the pager must not touch.
    void* const room = sys::map(sizeof(Region));
    if (room == nullptr) return nullptr;
    auto* const region = new (room) Region(at, bytes, frames_.chunk());
    int error = 0;
    {
        const Quiet quiet;
        const std::lock_guard lock(lock_);
        error = regions_.full() ? ENOMEM : store_.reserve(region->chunks.size());
        if (error == 0) error = fault_.watch(at, bytes);
        if (error == 0) {
            regions_.add(region);
            std::ranges::sort(regions_, {}, &Region::base);
            return region;
        }
    }
    region->~Region();
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
    for (Chunk& chunk : region.chunks) forget(chunk);
    store_.release(region.chunks.size());
    region.gone = true;
    free_where_idle(region);
}

void Pager::free_where_idle(Region& region) {
    if (!region.gone || region.transfers > 0) return;
    for (std::size_t i = 0; i < starved_.size();)
        if (starved_[i]->region == &region)
            starved_[i] = starved_.take_last();
        else
            ++i;
    region.~Region();
    sys::unmap(&region, sizeof(Region));
}

Counts Pager::counts(const Region& region) {
    const Quiet quiet;
    const std::lock_guard lock(lock_);
    return region.counts;
}

std::byte* Pager::address(const Chunk& chunk) {
    const Region& region = *chunk.region;
    return region.base + static_cast<std::size_t>(&chunk - region.chunks.begin()) * region.chunk_bytes;
}

Region* Pager::region_at(const std::byte* at) {
    auto* const after = std::ranges::upper_bound(regions_, at, {}, [](const Region* r) { return r->base; });
    if (after == regions_.begin()) return nullptr;
    Region* const region = *(after - 1);
    return at < region->base + region->bytes ? region : nullptr;
}

// -- the thread ---------------------------------------------------------------------------------------------

void Pager::work() {
    std::array<pollfd, 3> events{
        {{fault_.fd(), POLLIN, 0}, {disk_->ready(), POLLIN, 0}, {wake_.fd(), POLLIN, 0}}};
    // Pages that are in use may be free in a moment, and nobody tells; ten seconds of that are no moment.
    // Counted in turns, for a program that was stopped meanwhile has waited for nothing.
    constexpr int retry_ms = 1, most_retries = 10'000;
    int retries = 0;
    for (;;) {
        ::poll(events.data(), events.size(), retries > 0 ? retry_ms : -1);
        const std::lock_guard lock(lock_);
        if (over_) return;
        static_cast<void>(wake_.clear());
        bool any = false;
        while (serve()) any = true;
        retries = starved_.empty() ? 0 : any ? 1 : retries + 1;
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
    keep_some_free();
    disk_->begin();
    return any;
}

bool Pager::take_messages() {
    std::array<uffd_msg, 16> room{};
    const std::span<uffd_msg> messages = fault_.read(room);
    for (const uffd_msg& message : messages) {
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
    return !messages.empty();
}

bool Pager::take_transfers() {
    bool any = false;
    Disk::Ended ended{};
    while (disk_->next(ended)) {
        any = true;
        Chunk& chunk = *reinterpret_cast<Chunk*>(ended.transfer.tag); // NOLINT: a tag is a number
        --chunk.region->transfers;
        if (ended.transfer.write)
            was_written(chunk, ended.error);
        else
            was_read(chunk, ended.error);
        free_where_idle(*chunk.region);
    }
    return any;
}

bool Pager::answer_starved() {
    std::size_t kept = 0, all = 0;
    // More may be added meanwhile, at the end.
    for (; all < starved_.size(); ++all) {
        Chunk& chunk = *starved_[all];
        chunk.starved = !answer(chunk);
        if (chunk.starved) starved_[kept++] = &chunk;
    }
    while (starved_.size() > kept) static_cast<void>(starved_.take_last());
    return kept < all;
}

void Pager::starve(Chunk& chunk) {
    if (!chunk.starved) starved_.add(&chunk);
    chunk.starved = true;
}

void Pager::keep_some_free() {
    while (frames_.left() + writing_ < low_) {
        const std::size_t before = writing_;
        if (make_room() != Room::made && writing_ == before) return;
    }
}

// -- what is touched ----------------------------------------------------------------------------------------

void Pager::fault(std::byte* at, std::uint32_t thread, bool writes) {
    Region* const region = region_at(at);
    // Unmapped meanwhile: whoever touches it again learns so from the kernel.
    if (region == nullptr) return fault_.wake(at, page);
    const auto number = static_cast<std::size_t>(at - region->base) / region->chunk_bytes;
    Chunk& chunk = region->chunks[number];
    if (chunk.state == State::in) {
        // Another thread was before it, or the program has given the page back (MADV_DONTNEED) and finds
        // zeros.
        if (fault_.copy(at, zeros_, page) != 0) fault_.wake(at, page);
        return;
    }
    if (chunk.state == State::lost) return fault_.wake(at, page);
    if (writes) chunk.written = true;
    if (!chunk.waited) {
        Counts& counts = region->counts;
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
    chunk.waited = true;
    if (!answer(chunk)) starve(chunk);
    const auto mapped = [region](std::int64_t i) {
        return region->chunks[static_cast<std::size_t>(i)].state == State::in;
    };
    const Streams::Stream* const stream = region->streams.follow(
        static_cast<std::int64_t>(number), thread, static_cast<std::uint32_t>(most_ahead_), mapped);
    if (stream != nullptr) look_ahead(*region, *stream);
}

bool Pager::answer(Chunk& chunk) {
    switch (chunk.state) {
    case State::fresh: {
        bool zero = false;
        chunk.frame = frame(zero);
        if (chunk.frame == nullptr) return false;
        if (!zero) std::memset(chunk.frame, 0, frames_.chunk());
        chunk.state = State::staged;
        return map(chunk);
    }
    case State::staged:
        return map(chunk);
    case State::out:
        return read(chunk);
    case State::in:
    case State::lost:
        chunk.waited = false;
        fault_.wake(address(chunk), frames_.chunk());
        return true;
    case State::reading:
    case State::leaving:
    case State::dropped:
        return true;
    }
    return true;
}

void Pager::look_ahead(Region& region, const Streams::Stream& stream) {
    const auto end = static_cast<std::int64_t>(region.chunks.size());
    const std::uint32_t window = std::min(stream.window, static_cast<std::uint32_t>(most_ahead_));
    std::int64_t at = stream.last;
    bool turned = false;
    std::uint32_t ahead = 0;
    for (std::size_t steps = 0; ahead < window && steps < region.chunks.size(); ++steps) {
        at += stream.stride;
        if (at < 0 || at >= end) {
            if (!stream.repeats || turned || stream.next_first < 0 || stream.next_first >= end) return;
            at = stream.next_first;
            turned = true;
        }
        Chunk& chunk = region.chunks[static_cast<std::size_t>(at)];
        if (chunk.state == State::in) continue;
        if (chunk.state == State::fresh || chunk.state == State::lost) return;
        if (chunk.state == State::out) {
            if (residence_.ahead() >= most_ahead_ && leave(*residence_.oldest_ahead()) != Room::made) return;
            if (!read(chunk)) return;
        }
        ++ahead;
    }
}

bool Pager::read(Chunk& chunk) {
    bool zero = false;
    std::byte* const to = frame(zero);
    if (to == nullptr) return false;
    if (!disk_->start({false, chunk.slot, to, reinterpret_cast<std::uint64_t>(&chunk)})) {
        frames_.give(to);
        return false;
    }
    ++chunk.region->transfers;
    chunk.frame = to;
    chunk.state = State::reading;
    return true;
}

void Pager::was_read(Chunk& chunk, int error) {
    Region& region = *chunk.region;
    if (chunk.state == State::dropped) return ended_dropped(chunk);
    if (error != 0) {
        say({"a chunk could not be read from ", store_.path_of(chunk.slot), " (", ::strerrorname_np(error),
             "): what touches it ends in SIGBUS"});
        frames_.give(chunk.frame);
        chunk.frame = nullptr;
        chunk.state = State::lost;
        chunk.waited = false;
        if (fault_.poison(address(chunk), frames_.chunk()) != 0)
            give_up({"the kernel cannot mark what could not be read, so the program ends here"});
        return;
    }
    region.counts.read_bytes += frames_.chunk();
    if (!chunk.known && !chunk.written) {
        chunk.digest = digest_of(chunk.frame, frames_.chunk(), seed_);
        chunk.known = true;
    }
    chunk.state = State::staged;
    if (!chunk.waited)
        residence_.brought(chunk);
    else if (!map(chunk))
        starve(chunk);
}

// -- mapping and unmapping ----------------------------------------------------------------------------------

bool Pager::map(Chunk& chunk) {
    // Pages may be pinned for a moment after a transfer into them has ended.
    constexpr int patience = 1000;
    std::byte* const to = address(chunk);
    const std::size_t bytes = frames_.chunk();
    std::size_t done = 0;
    for (int i = 0; i < patience && done < bytes; ++i) {
        const Userfault::Moved moved = fault_.move(to + done, chunk.frame + done, bytes - done);
        done += moved.bytes;
        if (moved.error == EAGAIN && done == 0) return false;
        if (moved.error != 0 && moved.error != EBUSY) break;
        if (moved.error == EBUSY) ::sched_yield();
    }
    if (done < bytes) return map_by_pages(chunk, done);
    frames_.emptied(chunk.frame);
    mapped(chunk);
    return true;
}

/// Page by page and by copying, for what the kernel does not move: pages that stay pinned, and places of
/// which parts are unmapped or protected. What is not mapped any more is left out.
///
/// \param done bytes that were moved.
bool Pager::map_by_pages(Chunk& chunk, std::size_t done) {
    std::byte* const to = address(chunk);
    bool any = done > 0;
    for (std::size_t at = done; at < frames_.chunk(); at += page) {
        int error = fault_.copy(to + at, chunk.frame + at, page);
        // An event waits to be read; that of an unmapping does not change what is here, and nobody else
        // reads.
        while (error == EAGAIN) {
            take_messages();
            error = fault_.copy(to + at, chunk.frame + at, page);
        }
        any = any || error == 0 || error == EEXIST;
    }
    frames_.drop(chunk.frame);
    mapped(chunk);
    fault_.wake(to, frames_.chunk());
    if (any) return true;
    residence_.left(chunk);
    chunk.state = State::fresh;
    frames_.gone();
    return true;
}

void Pager::mapped(Chunk& chunk) {
    chunk.frame = nullptr;
    chunk.state = State::in;
    chunk.waited = false;
    if (chunk.place == Chunk::Place::aside)
        residence_.used_again(chunk);
    else
        residence_.came(chunk, chunk.returns);
}

/// All pages of a chunk, or none of them.
bool Pager::unmap(Chunk& chunk) {
    std::byte* const from = address(chunk);
    std::byte* const place = frames_.place();
    const Userfault::Moved moved = frames_.bring_back(place, from);
    if (moved.error == 0) {
        chunk.frame = place;
        chunk.state = State::staged;
        residence_.set_aside(chunk);
        return true;
    }
    for (std::size_t done = 0; done < moved.bytes;) {
        const Userfault::Moved back = fault_.move(from + done, place + done, moved.bytes - done, true);
        done += back.bytes;
        if (back.error == EAGAIN)
            take_messages();
        else if (back.error == EBUSY)
            ::sched_yield();
        else if (back.error != 0)
            give_up({"pages of a chunk could not be put back (", ::strerrorname_np(back.error), ")"});
    }
    frames_.emptied(place);
    // In use by the kernel, or by a child of a fork, it may be free later. Pages that are not alike stay so.
    if (moved.error == EBUSY || moved.error == EAGAIN)
        residence_.postpone(chunk);
    else
        residence_.left(chunk);
    return false;
}

// -- room ---------------------------------------------------------------------------------------------------

std::byte* Pager::frame(bool& zero) {
    for (;;) {
        std::byte* const found = frames_.take(zero);
        if (found != nullptr || make_room() != Room::made) return found;
    }
}

Pager::Room Pager::make_room() {
    if (Chunk* const chunk = residence_.next_to_leave(); chunk != nullptr) return leave(*chunk);
    constexpr int tries = 16;
    for (int i = 0; i < tries; ++i) {
        Chunk* const chunk = residence_.next_to_unmap();
        if (chunk == nullptr) break;
        if (unmap(*chunk)) return Room::made;
    }
    if (Chunk* const chunk = residence_.last_to_leave(); chunk != nullptr) return leave(*chunk);
    return writing_ > 0 ? Room::coming : Room::none;
}

/// A chunk in a frame that nobody touched: what it holds goes to its slot, where it is not there already.
Pager::Room Pager::leave(Chunk& chunk) {
    Counts& counts = chunk.region->counts;
    const bool wasted = chunk.place == Chunk::Place::ahead;
    bool same = wasted;
    Digest digest{};
    if (!wasted && !chunk.written) {
        digest = digest_of(chunk.frame, frames_.chunk(), seed_);
        same = chunk.slot == no_slot ? digest == zero_ : chunk.known && digest == chunk.digest;
    }
    if (same) {
        residence_.left(chunk);
        ++(wasted ? counts.wasted : counts.unchanged);
        if (wasted) chunk.region->streams.wasted();
        frames_.give(chunk.frame);
        chunk.frame = nullptr;
        chunk.state = chunk.slot == no_slot ? State::fresh : State::out;
        chunk.returns = true;
        return Room::made;
    }
    const bool first = chunk.slot == no_slot;
    if (first) chunk.slot = store_.take();
    if (!disk_->start({true, chunk.slot, chunk.frame, reinterpret_cast<std::uint64_t>(&chunk)})) {
        if (first) {
            store_.give(chunk.slot);
            chunk.slot = no_slot;
        }
        return writing_ > 0 ? Room::coming : Room::none;
    }
    residence_.left(chunk);
    ++chunk.region->transfers;
    ++writing_;
    chunk.known = !chunk.written;
    chunk.digest = digest;
    chunk.state = State::leaving;
    return Room::coming;
}

void Pager::was_written(Chunk& chunk, int error) {
    --writing_;
    Region& region = *chunk.region;
    if (chunk.state == State::dropped) return ended_dropped(chunk);
    chunk.returns = true;
    if (error == 0) {
        region.counts.written_bytes += frames_.chunk();
        chunk.written = false;
    } else {
        // It stays in memory, where nothing is lost; another is taken away in its place.
        if (!write_failed_)
            say({"a chunk could not be written to ", store_.path_of(chunk.slot), " (",
                 ::strerrorname_np(error),
                 "): it stays in memory, and with too many of them the program ends"});
        write_failed_ = true;
        chunk.known = false;
        chunk.written = true;
        chunk.waited = true;
    }
    if (chunk.waited) {
        chunk.state = State::staged;
        if (!map(chunk)) return starve(chunk);
        if (error != 0) residence_.left(chunk);
        return;
    }
    frames_.give(chunk.frame);
    chunk.frame = nullptr;
    chunk.state = State::out;
}

// -- what is given up ---------------------------------------------------------------------------------------

void Pager::forget(Chunk& chunk) {
    residence_.left(chunk);
    chunk.waited = chunk.written = chunk.known = chunk.returns = false;
    if (chunk.state == State::reading || chunk.state == State::leaving || chunk.state == State::dropped) {
        // Neither its frame nor its slot is free before the transfer has ended.
        chunk.state = State::dropped;
        return;
    }
    if (chunk.state == State::in) frames_.gone();
    if (chunk.state == State::staged) frames_.give(std::exchange(chunk.frame, nullptr));
    if (chunk.slot != no_slot) store_.give(std::exchange(chunk.slot, no_slot));
    chunk.state = State::fresh;
}

void Pager::ended_dropped(Chunk& chunk) {
    frames_.give(std::exchange(chunk.frame, nullptr));
    if (chunk.slot != no_slot) store_.give(std::exchange(chunk.slot, no_slot));
    chunk.known = false;
    chunk.state = State::fresh;
    if (!chunk.region->gone && chunk.waited) starve(chunk);
}

void Pager::unmapped(std::byte* from, std::byte* to) {
    for (Region* const region : regions_) {
        const std::size_t size = region->chunk_bytes;
        std::byte* const first = std::max(from, region->base);
        std::byte* const last = std::min(to, region->base + region->bytes);
        if (first >= last) continue;
        const auto begin = (static_cast<std::size_t>(first - region->base) + size - 1) / size;
        const auto end = static_cast<std::size_t>(last - region->base) / size;
        for (std::size_t i = begin; i < end; ++i) forget(region->chunks[i]);
    }
}

Chunk* Pager::chunk_at(std::byte* at) {
    Region* const region = region_at(at);
    if (region == nullptr) return nullptr;
    return &region->chunks[static_cast<std::size_t>(at - region->base) / region->chunk_bytes];
}

bool Pager::discard(std::byte* at) {
    const Quiet quiet;
    const std::lock_guard lock(lock_);
    Chunk* const chunk = chunk_at(at);
    if (chunk == nullptr || (chunk->state == State::in && !unmap(*chunk))) return false;
    forget(*chunk);
    return true;
}

void Pager::expect(std::byte* at) {
    {
        const Quiet quiet;
        const std::lock_guard lock(lock_);
        Chunk* const chunk = chunk_at(at);
        if (chunk == nullptr || chunk->state != State::out || residence_.ahead() >= most_ahead_) return;
        if (!read(*chunk)) return;
    }
    wake_.signal();
}

} // namespace assay::tier
