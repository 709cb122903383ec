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

constexpr std::size_t max_regions = 1 << 16;
/// Bytes that are read about as fast as a page.
constexpr std::size_t fast_read_bytes = std::size_t{64} << 10U;

void wait_for(int readable) {
    constexpr int max_ms = 10;
    pollfd one{readable, POLLIN, 0};
    ::poll(&one, 1, max_ms);
}

} // namespace

PagerEngine::PagerEngine(const PagerConfig& config, Callers callers)
    : callers_(callers), cache_(config), prefetcher_(cache_), trace_prefetcher_(config, cache_, prefetcher_),
      budget_(config.budget), meter_(max_regions, config.memory_bytes, config.chunk_bytes),
      regions_(max_regions), warn_about_copy_(cache_.map_method() == MapMethod::copy && !config.map_method) {
    cache_.placement().begin_thread();
    resize(cache_.pool_bytes());
}

PagerEngine::~PagerEngine() {
    // Removed regions are freed with their last transfer.
    while (cache_.transfers().count() > 0) {
        cache_.transfers().submit();
        if (!complete_transfers()) wait_for(cache_.transfers().ready());
    }
}

PagerEngine::AddResult PagerEngine::add(std::byte* at, std::size_t bytes) {
    // Not from malloc: the heap may be managed memory, which the pager thread must not access.
    void* const room = sys::map(sizeof(Region));
    if (room == nullptr) return {nullptr, ENOMEM};
    if (std::exchange(warn_about_copy_, false))
        print_message({"this kernel copies pages instead of moving them (Linux 6.8): managed memory must not "
                       "be filled asynchronously by the kernel or a device (io_uring, GPU)"});
    if (budget_ != nullptr && !budget_->join(ChunkCache::min_chunks * cache_.chunk_bytes())) {
        sys::unmap(room, sizeof(Region));
        return {nullptr, ENOMEM};
    }
    std::size_t first = 0;
    int error =
        regions_.full() ? ENOMEM : cache_.transfers().store().reserve(bytes / cache_.chunk_bytes(), first);
    if (error == 0) {
        Meter::Entry& meter_entry = meter_.begin(at, bytes);
        Region* region = nullptr;
        try {
            region = new (room) Region(at, bytes, cache_.sizes(), first, meter_entry, metadata_);
            error = cache_.mapper().register_range(at, bytes);
        } catch (const std::bad_alloc&) {
            error = ENOMEM; // No address space for the chunk table (RLIMIT_AS).
        }
        if (error == 0) {
            trace_prefetcher_.region_added(*region);
            regions_.add(*region);
            return {region, 0};
        }
        cache_.transfers().store().release(first, bytes / cache_.chunk_bytes());
        meter_.end(meter_entry);
        if (region != nullptr) region->~Region();
    }
    sys::unmap(room, sizeof(Region));
    return {nullptr, error};
}

void PagerEngine::remove(Region& region) {
    regions_.remove(region);
    prefetcher_.forget(region);
    cache_.discard(region);
    trace_prefetcher_.region_removed(region);
    region.removed = true;
    region.meter_entry.bytes = 0; // Hidden from observers before its last transfer completes.
    free_if_idle(region);
}

void PagerEngine::free_if_idle(Region& region) {
    if (!region.removed || region.transfers > 0) return;
    cache_.transfers().store().release(region.first_store_chunk, region.chunks().size());
    meter_.end(region.meter_entry);
    region.~Region();
    sys::unmap(&region, sizeof(Region));
}

// -- event loop ---------------------------------------------------------------------------------------------

void PagerEngine::work() {
    std::array<pollfd, 4> events{{{cache_.mapper().ready(), POLLIN, 0},
                                  {cache_.transfers().ready(), POLLIN, 0},
                                  {callers_.waker.fd(), POLLIN, 0},
                                  {-1, POLLIN, 0}}};
    // Pages in use may become free at any time without notification, so the pager retries for ten seconds.
    // Only iterations without events and transfers count: the program may have been stopped, and the disk may
    // be slow.
    constexpr int retry_ms = 1, max_retries = 10'000;
    // Delay until other members of the budget are noticed without notifications.
    constexpr int share_ms = 50;
    int retries = 0, idle_ms = -1;
    bool transfers = false; ///< Transfers are in flight.
    for (;;) {
        const auto poll_events = [&events](int ms) { return ::poll(events.data(), events.size(), ms) != 0; };
        const bool idle = !spin_.wait(transfers, [&poll_events] { return poll_events(0); }) &&
                          !poll_events(retries > 0 ? retry_ms : idle_ms);
        static_cast<void>(callers_.waker.clear());
        callers_.work.serve();
        if (stop_) return;
        if (budget_ != nullptr && !regions_.empty()) budget_->clear_wakeup();
        bool any = false;
        while (serve()) {
            any = true;
            callers_.work.serve();
        }
        if (budget_ != nullptr) {
            // A process without regions has nothing to share and ignores notifications.
            const bool shares = !regions_.empty();
            events.back().fd = shares ? budget_->wakeup_fd() : -1;
            idle_ms = shares && budget_->wakeup_fd() < 0 ? share_ms : -1;
        }
        retries = !cache_.is_behind() ? 0
                  : any ? 1
                        : std::max(retries, 1) + (idle && cache_.transfers().count() == 0 ? 1 : 0);
        transfers = cache_.transfers().count() > 0;
        if (retries > max_retries)
            abort_with_message(
                {"no memory can be freed for a page fault: increase --dram, or use a writable disk"});
    }
}

bool PagerEngine::serve() {
    bool any = handle_messages();
    any = complete_transfers() || any;
    any = cache_.retry_deferred() || any;
    if (any) prefetcher_.resume();
    trace_prefetcher_.prefetch(last_fault_node_);
    prefetcher_.prefetch_requested(regions_);
    cache_.transfers().submit(); // Demand reads do not wait for the reclaim below.
    cache_.reserve_metadata(metadata_.bytes + trace_prefetcher_.bytes());
    share_budget();
    cache_.keep_reserve();
    cache_.transfers().submit();
    return any || cache_.mapper().has_message();
}

void PagerEngine::resize(std::size_t max) {
    cache_.resize(max);
    prefetcher_.resize();
    metadata_.max = max / 4;
}

void PagerEngine::share_budget() {
    if (budget_ == nullptr) return;
    if (regions_.empty()) return cache_.release_free();
    // A process that reclaims in advance never finds the budget empty, so it recovers the memory of ended
    // processes here.
    if (budget_->free_bytes() < cache_.reserve_bytes()) budget_->recover();
    resize(std::min(budget_->limit_bytes(), cache_.pool_bytes()));
    cache_.release_surplus(*budget_);
}

bool PagerEngine::handle_messages() {
    cache_.mapper().read_messages();
    bool any = false;
    for (uffd_msg message{}; cache_.mapper().next_message(message); any = true) {
        if (message.event == UFFD_EVENT_PAGEFAULT) {
            const auto& one = message.arg.pagefault;
            fault(address(one.address), one.feat.ptid, (one.flags & UFFD_PAGEFAULT_FLAG_WRITE) != 0);
        } else if (message.event == UFFD_EVENT_REMAP) {
            abort_with_message({"the program moves memory by a direct system call (mremap), which is not "
                                "supported: run it without the tier"});
        } else if (message.event == UFFD_EVENT_UNMAP) {
            const auto& one = message.arg.remove;
            on_unmapped(address(one.start), address(one.end));
        }
    }
    return any;
}

bool PagerEngine::complete_transfers() {
    bool any = false;
    while (Region* const region = cache_.complete_transfer()) {
        free_if_idle(*region);
        any = true;
    }
    return any;
}

// -- page faults --------------------------------------------------------------------------------------------

void PagerEngine::fault(std::byte* at, std::uint32_t thread, bool writes) {
    ChunkMapper& mapper = cache_.mapper();
    Region* const region = regions_.at(at);
    // Unmapped meanwhile: the repeated access fails in the kernel.
    if (region == nullptr) return mapper.wake(at, page);
    const bool replays = trace_prefetcher_.is_active();
    const auto trace_level = trace_prefetcher_.level_at(*region, at);
    const std::size_t fetch_level = region->fetch_level();
    Chunk* chunk = &region->resized_at(at, trace_level.value_or(fetch_level));
    const Node node = last_fault_node_ = cache_.placement().preferred_node_of(thread);
    if (chunk->state == State::mapped) {
        // Another thread was faster, or the program has freed the page (MADV_DONTNEED) and expects zeros.
        const auto preference = cache_.placement().prefer(node);
        return mapper.map_zero_page(at);
    }
    if (chunk->state == State::lost) return mapper.wake(at, page);
    const StreamDetector::Stream* const stream =
        replays ? nullptr : prefetcher_.stream_of(*region, *chunk, thread);
    if (!replays && chunk->state == State::stored && region->level_of(*chunk) == fetch_level &&
        region->levels[fetch_level].granularity.samples_next(stream == nullptr)) {
        region->split_for_sampling(*chunk);
        chunk = &region->leaf_at(at);
    }
    if (chunk->list == Chunk::List::prefetched && region->level_of(*chunk) == fetch_level)
        region->levels[fetch_level].streams.on_used();
    const bool is_predicted = trace_prefetcher_.on_access(*region, *chunk, at);
    region->on_access(*chunk, cache_.clock());
    if (writes) chunk->dirty = true;
    if (!chunk->has_waiter) count(*chunk);
    if (chunk->state == State::stored && chunk->bytes() <= fast_read_bytes) spin_.expect_soon();
    region->begin_wait(*chunk);
    cache_.demand(*chunk, node);
    // If larger chunks are preferred, the remaining parts of a split one are fetched as well.
    if (trace_level && !is_predicted) return;
    Chunk& whole = region->leaf_at(at, trace_level.value_or(fetch_level));
    if (whole.state == State::split) {
        trace_prefetcher_.reassemble(whole);
        static_cast<void>(prefetcher_.prefetch(whole, node));
    }
    if (stream != nullptr) prefetcher_.prefetch_along(*region, *stream, node);
}

void PagerEngine::count(const Chunk& chunk) {
    Counts& counts = chunk.region->meter_entry.counts;
    switch (chunk.state) {
    case State::zero:
        ++counts.zero_fill_faults;
        break;
    case State::unmapped:
        ++(EvictionPolicy::is_second_chance(chunk) ? counts.second_chance_hits : counts.prefetch_hits);
        break;
    case State::write_queued:
        ++counts.second_chance_hits;
        break;
    case State::stored:
        ++counts.demand_faults;
        break;
    default:
        ++counts.in_flight_faults;
    }
}

// -- unmapping ----------------------------------------------------------------------------------------------

void PagerEngine::on_unmapped(std::byte* from, std::byte* to) {
    for (Region* const region : regions_) {
        std::byte* const first = std::max(from, region->base);
        std::byte* const last = std::min(to, region->base + region->bytes);
        for (std::byte* at = first; at < last;) {
            Chunk& chunk = region->chunk_at(at);
            on_unmapped(chunk, first, last);
            at = chunk.at + chunk.bytes();
        }
    }
}

/// Handle the unmapping of a chunk or its parts between two addresses.
void PagerEngine::on_unmapped(Chunk& chunk, const std::byte* from, const std::byte* to) {
    if (chunk.at >= from && chunk.at + chunk.bytes() <= to) return cache_.discard(chunk);
    if (chunk.state != State::split || chunk.at >= to || chunk.at + chunk.bytes() <= from) return;
    for (Chunk& part : chunk.region->parts_of(chunk)) on_unmapped(part, from, to);
}

void PagerEngine::forget(std::byte* at) {
    if (Region* const region = regions_.at(at); region != nullptr) cache_.discard(region->chunk_at(at));
    handle_messages();
}

bool PagerEngine::discard(std::byte* at) {
    Region* const region = regions_.at(at);
    if (region == nullptr) return false;
    Chunk& chunk = region->chunk_at(at);
    bool all = true;
    region->for_each_leaf(chunk, [this, &all](Chunk& range) {
        all = all && (range.state != State::mapped || cache_.unmap(range));
    });
    if (all) cache_.discard(chunk);
    // Events that were read meanwhile refer to the present regions.
    handle_messages();
    return all;
}

// -- advice -------------------------------------------------------------------------------------------------

void PagerEngine::advise(Region& region, AccessPattern pattern) {
    region.set_pattern(pattern);
    prefetcher_.forget(region); // Earlier predictions are obsolete.
}

void PagerEngine::evict(std::byte* at) {
    Region* const region = regions_.at(at);
    if (region == nullptr) return;
    region->for_each_leaf(region->chunk_at(at), [this](Chunk& range) { cache_.evict(range); });
    handle_messages();
}

void PagerEngine::prefetch(std::span<const ByteRange> ranges, Node node) {
    for (const ByteRange& range : ranges) prefetcher_.request(range.at, range.bytes, node);
}

} // namespace assay::tier
