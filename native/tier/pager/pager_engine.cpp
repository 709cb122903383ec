#include "tier/pager/pager_engine.hpp"

#include "tier/base/messages.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <optional>
#include <utility>

namespace assay::tier {

namespace {

using State = Chunk::State;

constexpr std::size_t most_regions = 1 << 16;
/// Bytes that are read about as fast as one page.
constexpr std::size_t soon_read = std::size_t{64} << 10U;

void wait_for(int readable) {
    constexpr int most_ms = 10;
    pollfd one{readable, POLLIN, 0};
    ::poll(&one, 1, most_ms);
}

} // namespace

PagerEngine::PagerEngine(const Means& means, Callers callers)
    : callers_(callers), memory_(means), ahead_(memory_), foresight_(means, memory_, ahead_),
      budget_(means.budget), meter_(most_regions, means.memory_bytes, means.chunk_bytes),
      regions_(most_regions), copies_unasked_(memory_.exchange() == Exchange::copy && !means.exchange) {
    memory_.placement().begin_thread();
    fit(memory_.pool_bytes());
}

PagerEngine::~PagerEngine() {
    // Regions that are gone already go with their last transfer.
    while (memory_.transfers().count() > 0) {
        memory_.transfers().begin();
        if (!take_transfers()) wait_for(memory_.transfers().ready());
    }
}

PagerEngine::Added PagerEngine::add(std::byte* at, std::size_t bytes) {
    // Not from malloc: what that gives may itself be in a region, which the pager must not touch.
    void* const room = sys::map(sizeof(Region));
    if (room == nullptr) return {nullptr, ENOMEM};
    if (std::exchange(copies_unasked_, false))
        say({"this kernel copies pages where Linux 6.8 moves them: memory that the kernel or a device fills "
             "while the program goes on (io_uring, a GPU) must not be among what storage stands behind"});
    if (budget_ != nullptr && !budget_->join(Memory::least_chunks * memory_.chunk())) {
        sys::unmap(room, sizeof(Region));
        return {nullptr, ENOMEM};
    }
    std::size_t first = 0;
    int error =
        regions_.full() ? ENOMEM : memory_.transfers().store().reserve(bytes / memory_.chunk(), first);
    if (error == 0) {
        Meter::Entry& shown = meter_.begin(at, bytes);
        Region* region = nullptr;
        try {
            region = new (room) Region(at, bytes, memory_.sizes(), first, shown, records_);
            error = memory_.mapping().watch(at, bytes);
        } catch (const std::bad_alloc&) {
            error = ENOMEM; // There are no addresses for its chunks (RLIMIT_AS).
        }
        if (error == 0) {
            foresight_.began(*region);
            regions_.add(*region);
            return {region, 0};
        }
        memory_.transfers().store().release(first, bytes / memory_.chunk());
        meter_.end(shown);
        if (region != nullptr) region->~Region();
    }
    sys::unmap(room, sizeof(Region));
    return {nullptr, error};
}

void PagerEngine::remove(Region& region) {
    regions_.remove(region);
    ahead_.forget(region);
    memory_.forget(region);
    foresight_.ended(region);
    region.gone = true;
    region.shown.bytes = 0; // Nobody sees it any more, whenever its last transfer ends.
    free_where_idle(region);
}

void PagerEngine::free_where_idle(Region& region) {
    if (!region.gone || region.transfers > 0) return;
    memory_.transfers().store().release(region.first, region.chunks().size());
    meter_.end(region.shown);
    region.~Region();
    sys::unmap(&region, sizeof(Region));
}

// -- the thread ---------------------------------------------------------------------------------------------

void PagerEngine::work() {
    std::array<pollfd, 4> events{{{memory_.mapping().ready(), POLLIN, 0},
                                  {memory_.transfers().ready(), POLLIN, 0},
                                  {callers_.waker.fd(), POLLIN, 0},
                                  {-1, POLLIN, 0}}};
    // Pages that are in use may be free in a moment, and nobody tells; ten seconds of that are no moment.
    // Counted in turns in which nothing came and nothing was on its way: a program that was stopped meanwhile
    // has waited for nothing, and a disk may take its time.
    constexpr int retry_ms = 1, most_retries = 10'000;
    // So long may it take until others of the budget are heard, where they cannot wake this thread.
    constexpr int share_ms = 50;
    int retries = 0, idle_ms = -1;
    bool transfers = false; ///< Are under way.
    for (;;) {
        const auto came = [&events](int ms) { return ::poll(events.data(), events.size(), ms) != 0; };
        const bool quiet =
            !awake_.wait(transfers, [&came] { return came(0); }) && !came(retries > 0 ? retry_ms : idle_ms);
        static_cast<void>(callers_.waker.clear());
        callers_.errands.serve();
        if (over_) return;
        if (budget_ != nullptr && !regions_.empty()) budget_->clear_news();
        bool any = false;
        while (serve()) {
            any = true;
            callers_.errands.serve();
        }
        if (budget_ != nullptr) {
            // Who has nothing has nothing to give, and hears nobody.
            const bool shares = !regions_.empty();
            events.back().fd = shares ? budget_->news() : -1;
            idle_ms = shares && budget_->news() < 0 ? share_ms : -1;
        }
        retries = !memory_.is_behind() ? 0
                  : any ? 1
                        : std::max(retries, 1) + (quiet && memory_.transfers().count() == 0 ? 1 : 0);
        transfers = memory_.transfers().count() > 0;
        if (retries > most_retries)
            give_up(
                {"no memory can be freed for what the program touches: give it more (--dram), or a disk that "
                 "can be written"});
    }
}

bool PagerEngine::serve() {
    bool any = take_messages();
    any = take_transfers() || any;
    any = memory_.go_on() || any;
    if (any) ahead_.go_on();
    foresight_.bring(newest_node_);
    ahead_.bring_expected(regions_);
    memory_.transfers().begin(); // What is waited for does not wait for room that others will need.
    memory_.set_aside(records_.bytes + foresight_.bytes());
    share();
    memory_.keep_some_free();
    memory_.transfers().begin();
    return any || memory_.mapping().has_next();
}

void PagerEngine::fit(std::size_t most) {
    memory_.fit(most);
    ahead_.fit();
    records_.most = most / 4;
}

void PagerEngine::share() {
    if (budget_ == nullptr) return;
    if (regions_.empty()) return memory_.give_back();
    // Who makes room in time never finds that there is none, and so not what others left behind either.
    if (budget_->left_bytes() < memory_.low_bytes()) budget_->collect();
    fit(std::min(budget_->limit_bytes(), memory_.pool_bytes()));
    memory_.share(*budget_);
}

bool PagerEngine::take_messages() {
    memory_.mapping().read();
    bool any = false;
    for (uffd_msg message{}; memory_.mapping().next(message); any = true) {
        if (message.event == UFFD_EVENT_PAGEFAULT) {
            const auto& one = message.arg.pagefault;
            fault(address(one.address), one.feat.ptid, (one.flags & UFFD_PAGEFAULT_FLAG_WRITE) != 0);
        } else if (message.event == UFFD_EVENT_REMAP) {
            give_up(
                {"the program moves memory by a system call of its own (mremap), which cannot be followed: "
                 "run it without the tier"});
        } else if (message.event == UFFD_EVENT_UNMAP) {
            const auto& one = message.arg.remove;
            unmapped(address(one.start), address(one.end));
        }
    }
    return any;
}

bool PagerEngine::take_transfers() {
    bool any = false;
    while (Region* const region = memory_.take_transfer()) {
        free_where_idle(*region);
        any = true;
    }
    return any;
}

// -- what is touched ----------------------------------------------------------------------------------------

void PagerEngine::fault(std::byte* at, std::uint32_t thread, bool writes) {
    Mapping& mapping = memory_.mapping();
    Region* const region = regions_.at(at);
    // Unmapped meanwhile: whoever touches it again learns so from the kernel.
    if (region == nullptr) return mapping.wake(at, page);
    const bool foresees = foresight_.is_there();
    const auto foreseen = foresight_.level_at(*region, at);
    const std::size_t wanted = region->wanted();
    Chunk* chunk = &region->fitted_at(at, foreseen.value_or(wanted));
    const Node node = newest_node_ = memory_.placement().wanted_by(thread);
    if (chunk->state == State::in) {
        // Another thread was before it, or the program has given the page back (MADV_DONTNEED) and finds
        // zeros.
        const auto preference = memory_.placement().prefer(node);
        return mapping.fill(at);
    }
    if (chunk->state == State::lost) return mapping.wake(at, page);
    const Streams::Stream* const run = foresees ? nullptr : ahead_.run_of(*region, *chunk, thread);
    if (!foresees && chunk->state == State::out && region->level_of(*chunk) == wanted &&
        region->levels[wanted].grain.watches_next(run == nullptr)) {
        region->watch(*chunk);
        chunk = &region->piece_at(at);
    }
    if (chunk->place == Chunk::Place::ahead && region->level_of(*chunk) == wanted)
        region->levels[wanted].streams.used();
    const bool is_foreseen = foresight_.touched(*region, *chunk, at);
    region->touched(*chunk, memory_.clock());
    if (writes) chunk->written = true;
    if (!chunk->waited) count(*chunk);
    if (chunk->state == State::out && chunk->bytes() <= soon_read) awake_.expect();
    region->begin_wait(*chunk);
    memory_.want(*chunk, node);
    // Where larger chunks are wanted, the rest of one that is split comes with any part of it.
    if (foreseen && !is_foreseen) return;
    Chunk& whole = region->piece_at(at, foreseen.value_or(wanted));
    if (whole.state == State::split) {
        foresight_.gather(whole);
        static_cast<void>(ahead_.bring(whole, node));
    }
    if (run != nullptr) ahead_.follow(*region, *run, node);
}

void PagerEngine::count(const Chunk& chunk) {
    Counts& counts = chunk.region->shown.counts;
    switch (chunk.state) {
    case State::fresh:
        ++counts.first;
        break;
    case State::staged:
        ++(Residence::is_unmapped(chunk) ? counts.again : counts.staged);
        break;
    case State::due:
        ++counts.again;
        break;
    case State::out:
        ++counts.demand;
        break;
    default:
        ++counts.late;
    }
}

// -- what is given up ---------------------------------------------------------------------------------------

void PagerEngine::unmapped(std::byte* from, std::byte* to) {
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
void PagerEngine::unmapped(Chunk& chunk, const std::byte* from, const std::byte* to) {
    if (chunk.at >= from && chunk.at + chunk.bytes() <= to) return memory_.forget(chunk);
    if (chunk.state != State::split || chunk.at >= to || chunk.at + chunk.bytes() <= from) return;
    for (Chunk& part : chunk.region->parts_of(chunk)) unmapped(part, from, to);
}

void PagerEngine::forget(std::byte* at) {
    if (Region* const region = regions_.at(at); region != nullptr) memory_.forget(region->chunk_at(at));
    take_messages();
}

bool PagerEngine::discard(std::byte* at) {
    Region* const region = regions_.at(at);
    if (region == nullptr) return false;
    Chunk& chunk = region->chunk_at(at);
    bool all = true;
    region->for_each_piece(chunk, [this, &all](Chunk& piece) {
        all = all && (piece.state != State::in || memory_.unmap(piece));
    });
    if (all) memory_.forget(chunk);
    // What was read meanwhile is of the regions that there are now.
    take_messages();
    return all;
}

// -- what is told -------------------------------------------------------------------------------------------

void PagerEngine::order(Region& region, Order order) {
    region.be_told(order);
    ahead_.forget(region); // What comes next was thought of without it.
}

void PagerEngine::done(std::byte* at) {
    Region* const region = regions_.at(at);
    if (region == nullptr) return;
    region->for_each_piece(region->chunk_at(at), [this](Chunk& piece) { memory_.let_go(piece); });
    take_messages();
}

void PagerEngine::expect(std::span<const Piece> pieces, Node node) {
    for (const Piece& piece : pieces) ahead_.expect(piece.at, piece.bytes, node);
}

} // namespace assay::tier
