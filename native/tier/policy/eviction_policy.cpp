#include "tier/policy/eviction_policy.hpp"

#include <algorithm>
#include <utility>

namespace assay::tier {

namespace {

/// Fractions of memory for the probation list and for second chances.
constexpr std::size_t probation_fraction = 32, second_chance_fraction = 32;
/// Upper limit of the probation list, reached if its chunks are accessed repeatedly: tiles of a matrix, or
/// neighbouring rows of a grid.
constexpr std::size_t max_probation_fraction = 8;
/// In a sweep, an unmapped chunk is accessed again only after all others.
constexpr std::size_t second_chance_fraction_of_sweep = 128;

bool is_mapped(const Chunk& chunk) {
    return chunk.list == Chunk::List::main || chunk.list == Chunk::List::probation;
}

/// Minimum number of mapped chunks. An instruction accesses fewer, and needs all of them at the same time.
constexpr std::size_t min_mapped_chunks = 4;
/// Maximum number of chunks skipped at a time: if all are in use, one of them is unmapped nevertheless.
constexpr std::size_t max_skips = 64;

} // namespace

void EvictionPolicy::resize(std::size_t max) {
    max_ = max;
    resize_lists();
}

Queue& EvictionPolicy::queue(Chunk::List list) {
    switch (list) {
    case Chunk::List::main:
        return main_;
    case Chunk::List::probation:
        return probation_;
    case Chunk::List::second_chance:
        return second_chance_;
    case Chunk::List::sampled:
        return sampled_;
    case Chunk::List::pinned:
        return pinned_;
    default:
        return prefetched_;
    }
}

void EvictionPolicy::enter(Chunk& chunk, Chunk::List list) {
    unlink(chunk);
    chunk.list = list;
    queue(list).add(chunk);
    if (next_use_ == nullptr) return;
    if (list == Chunk::List::probation)
        next_use_->retain(chunk);
    else
        next_use_->on_fetched(chunk, list == Chunk::List::main);
}

void EvictionPolicy::unlink(Chunk& chunk) {
    if (chunk.list == Chunk::List::none) return;
    queue(chunk.list).remove(chunk);
    chunk.list = Chunk::List::none;
}

void EvictionPolicy::on_removed(Chunk& chunk) {
    // The probation list shrinks so slowly that about one in 32 of its chunks is unmapped too early.
    constexpr std::size_t shrink_divisor = 32;
    if (chunk.list == Chunk::List::second_chance)
        extra_probation_ -= std::min(extra_probation_, chunk.bytes() / shrink_divisor);
    unlink(chunk);
    chunk.streak = 0;
    chunk.skips = 0;
    if (next_use_ != nullptr) next_use_->on_evicted(chunk);
}

void EvictionPolicy::pin(Chunk& chunk) {
    on_removed(chunk); // Also removes it from the trace's candidates, because it cannot be evicted.
    chunk.list = Chunk::List::pinned;
    pinned_.add(chunk);
}

void EvictionPolicy::follow_trace(NextUse* next_use, std::size_t newest) {
    end_sampling();
    next_use_ = next_use;
    recent_bytes_ = newest;
}

void EvictionPolicy::on_unpredicted_access() {
    constexpr std::size_t chunks = 16;
    recent_bytes_ = std::max(recent_bytes_, std::min({recent_bytes_ + chunk_, chunks * chunk_, max_ / 4}));
}

/// Enter a chunk into the recent ones. Older chunks become candidates for eviction.
void EvictionPolicy::on_mapped_with_trace(Chunk& chunk) {
    enter(chunk, Chunk::List::probation);
    while (probation_.bytes() > recent_bytes_ && probation_.size() > min_mapped_chunks)
        enter(*probation_.front(), Chunk::List::main);
}

Chunk* EvictionPolicy::farthest_use() const {
    if (next_use_ == nullptr) return nullptr;
    const auto found = next_use_->farthest();
    if (!found) return nullptr;
    Chunk& chunk = found->region->leaf_at(found->at, found->level);
    return chunk.list == Chunk::List::none ? nullptr : &chunk;
}

void EvictionPolicy::on_mapped(Chunk& chunk, bool refetched) {
    update_averages(chunk, refetched);
    const std::size_t distance = age(chunk);
    mapped_total_ += chunk.bytes();
    stamp(chunk);
    if (next_use_ != nullptr) return on_mapped_with_trace(chunk);
    if (scan_resistant_ && refetched && distance <= min_probation_ + max_extra_probation())
        grow_probation(chunk);
    const bool enters_main =
        !scan_resistant_ || is_probation_overfull() || (refetched && displaces_older(distance));
    enter(chunk, enters_main ? Chunk::List::main : Chunk::List::probation);
}

/// Give a sampled chunk a second chance, and so free its place, if it was unused for twice the distance. A
/// skipped chunk counts as used at its turn, up to half a cycle before its actual use.
bool EvictionPolicy::displaces_older(std::size_t distance) {
    const auto is_older = [&](const Chunk* one) { return one != nullptr && age(*one) > 2 * distance; };
    if (Chunk* const oldest = sampled_.front(); is_older(oldest)) {
        enter(*oldest, Chunk::List::second_chance);
        return true;
    }
    // Before any chunk is sampled: an old chunk that counts as used.
    Chunk* const oldest = main_.front();
    if (!is_older(oldest)) return false;
    enter(*oldest, Chunk::List::probation);
    return true;
}

/// Update the averages, over about a quarter of memory. Two thresholds provide hysteresis.
void EvictionPolicy::update_averages(const Chunk& chunk, bool refetched) {
    const double weight = static_cast<double>(chunk.bytes()) /
                          static_cast<double>(std::max(max_ / 4, min_mapped_chunks * chunk_));
    refetch_share_ += weight * ((refetched ? 1.0 : 0.0) - refetch_share_);
    if (refetched) refetch_distance_ += weight * (static_cast<double>(age(chunk)) - refetch_distance_);
    if (refetch_share_ > 0.5) set_scan_resistant(true);
    if (refetch_share_ < 0.25) set_scan_resistant(false);
}

void EvictionPolicy::set_scan_resistant(bool scan_resistant) {
    if (std::exchange(scan_resistant_, scan_resistant) == scan_resistant) return;
    resize_lists();
    if (!scan_resistant) end_sampling();
}

/// Give sampled chunks a second chance.
void EvictionPolicy::end_sampling() {
    while (!sampled_.empty()) enter(*sampled_.front(), Chunk::List::second_chance);
}

void EvictionPolicy::resize_lists() {
    min_probation_ = std::max(max_ / probation_fraction, min_mapped_chunks * chunk_);
    extra_probation_ = std::min(extra_probation_, max_extra_probation());
    second_chance_limit_ =
        std::max(max_ / (scan_resistant_ ? second_chance_fraction_of_sweep : second_chance_fraction), chunk_);
    // Present chunks are kept, as in the beginning.
    while (probation_.bytes() > min_probation_) enter(*probation_.front(), Chunk::List::main);
}

/// Grow the probation list, after it has dropped a chunk too early.
void EvictionPolicy::grow_probation(const Chunk& chunk) {
    extra_probation_ = std::min(extra_probation_ + chunk.bytes(), max_extra_probation());
}

std::size_t EvictionPolicy::max_extra_probation() const {
    return max_ / max_probation_fraction;
}

void EvictionPolicy::on_second_chance_hit(Chunk& chunk) {
    stamp(chunk);
    if (next_use_ != nullptr) return on_mapped_with_trace(chunk);
    if (scan_resistant_ && chunk.list == Chunk::List::second_chance) grow_probation(chunk);
    constexpr unsigned longest = 3;
    chunk.streak = std::min(chunk.streak + 1U, longest) & longest;
    chunk.skips = chunk.streak;
    enter(chunk, Chunk::List::main);
}

void EvictionPolicy::on_merged(Chunk& chunk) {
    if (next_use_ == nullptr)
        return enter(chunk, scan_resistant_ ? Chunk::List::probation : Chunk::List::main);
    next_use_->on_merged(chunk);
    on_mapped_with_trace(chunk);
}

void EvictionPolicy::on_unmapped(Chunk& chunk) {
    enter(chunk, Chunk::List::second_chance);
}

void EvictionPolicy::postpone(Chunk& chunk) {
    const Chunk::List list = chunk.list;
    if (list != Chunk::List::none) enter(chunk, list);
    if (next_use_ != nullptr) next_use_->on_evicted(chunk);
}

Chunk* EvictionPolicy::oldest_mapped() const {
    if (main_.size() + probation_.size() <= min_mapped_chunks) return nullptr;
    Chunk* const from_main = main_.front();
    Chunk* const from_probation = probation_.front();
    if (from_main == nullptr || from_probation == nullptr)
        return from_main == nullptr ? from_probation : from_main;
    return static_cast<std::int32_t>(from_main->mapped_at - from_probation->mapped_at) < 0 ? from_main
                                                                                           : from_probation;
}

Chunk* EvictionPolicy::next_to_evict() const {
    if (Chunk* const last = farthest_use(); last != nullptr && !is_mapped(*last)) return last;
    return second_chance_.bytes() > second_chance_limit_ ? second_chance_.front() : nullptr;
}

/// Skip a chunk: it counts as used and moves to the end of the list.
void EvictionPolicy::skip(Chunk& chunk) {
    --chunk.skips;
    stamp(chunk);
    main_.remove(chunk);
    main_.add(chunk);
}

/// Sample after half of the average refetch distance; skipped chunks after all of it.
Chunk* EvictionPolicy::next_to_sample() {
    if (!scan_resistant_ || next_use_ != nullptr) return nullptr;
    for (std::size_t i = 0; i < max_skips && !main_.empty(); ++i) {
        Chunk& chunk = *main_.front();
        const double due = std::max(chunk.skips > 0 ? refetch_distance_ : refetch_distance_ / 2,
                                    static_cast<double>(min_probation_));
        if (static_cast<double>(age(chunk)) < due) return nullptr;
        if (chunk.skips == 0) return &chunk;
        skip(chunk);
    }
    return nullptr;
}

Chunk* EvictionPolicy::last_resort() const {
    for (const Queue* const one : {&second_chance_, &sampled_, &prefetched_})
        if (!one->empty()) return one->front();
    return nullptr;
}

Chunk* EvictionPolicy::next_to_unmap() {
    if (Chunk* const last = farthest_use(); last != nullptr && is_mapped(*last)) return last;
    // Keep the most recent chunks: an instruction may need several.
    if (main_.size() + probation_.size() <= min_mapped_chunks) return nullptr;
    if (probation_.bytes() > probation_limit()) return probation_.front();
    for (std::size_t i = 0; i < max_skips && !main_.empty() && main_.front()->skips > 0; ++i)
        skip(*main_.front());
    return main_.empty() ? probation_.front() : main_.front();
}

} // namespace assay::tier
