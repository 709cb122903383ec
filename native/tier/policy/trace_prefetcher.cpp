#include "tier/policy/trace_prefetcher.hpp"

#include "tier/base/messages.hpp"

#include <algorithm>
#include <stdexcept>

namespace assay::tier {

namespace {

using State = Chunk::State;

} // namespace

Foresight::Foresight(const Means& means, Memory& memory, LookAhead& ahead)
    : memory_(memory), ahead_(ahead), budget_(means.budget), trace_folder_(means.trace_folder),
      replay_folder_(means.replay_folder) {}

void Foresight::begin() {
    const std::size_t number = budget_ == nullptr ? 0 : budget_->before();
    if (!trace_folder_.empty()) record(number);
    if (!replay_folder_.empty()) replay(number);
}

void Foresight::record(std::size_t number) {
    try {
        const std::size_t chunk = memory_.chunk();
        recorder_.emplace(trace_path(trace_folder_, number), memory_.sizes());
        recorder_->map(std::clamp(memory_.most_bytes() / 8, 4 * chunk, 8 * chunk));
        memory_.map_at_most(recorder_->mapped_bytes());
    } catch (const std::exception& error) {
        say({"touches are not recorded: ", error.what()});
    }
}

void Foresight::replay(std::size_t number) {
    const std::string path = trace_path(replay_folder_, number);
    try {
        const std::size_t most = memory_.most_bytes() / 4;
        const std::runtime_error too_long("it takes more than a quarter of DRAM (--dram)");
        const Trace trace(path, memory_.sizes());
        if (trace.size() * sizeof(std::uint64_t) > most) throw too_long;
        future_.emplace(trace, memory_.sizes());
        if (future_->bytes() > most) throw too_long;
        memory_.residence().foresee(&*future_,
                                    std::max(4 * memory_.chunk(), std::min(future_->newest_bytes(), most)));
    } catch (const std::exception& error) {
        future_.reset();
        say({"touches are not foreseen by ", path, ": ", error.what()});
    }
}

void Foresight::began(Region& region) {
    if (!begun_) begin();
    begun_ = true;
    region.ordinal = regions_ever_++;
    if (recorder_) recorder_->began(region.bytes / memory_.chunk());
    if (future_) future_->began(region);
}

void Foresight::ended(const Region& region) {
    if (future_) future_->ended(region);
}

std::optional<std::size_t> Foresight::level_at(const Region& region, const std::byte* at) const {
    return future_ ? future_->level_at(region, at) : std::nullopt;
}

bool Foresight::touched(const Region& region, const Chunk& chunk, const std::byte* at) {
    if (recorder_) {
        if (chunk.place == Chunk::Place::aside) recorder_->touched_again();
        recorder_->touched(region.touch_of(at, region.wanted()));
        memory_.map_at_most(recorder_->mapped_bytes());
    }
    if (!future_) return false;
    const bool found = future_->touched(region, at);
    if (!found) memory_.residence().surprised();
    return found;
}

void Foresight::end() {
    if (future_->is_lost()) say({"the program does something else than was recorded: nothing is foreseen"});
    memory_.residence().foresee(nullptr, 0);
    future_.reset();
}

void Foresight::gather(Chunk& whole) {
    if (!future_) return;
    future_->gather(whole);
    whole.region->for_each_piece(whole, [this](Chunk& part) {
        if (part.state == State::staged && !part.starved && !future_->tells(part))
            static_cast<void>(memory_.map(part));
    });
}

bool Foresight::make_room_until(std::size_t when, std::size_t bytes) {
    for (;;) {
        if (memory_.free_bytes() >= memory_.low_bytes() + bytes) return true;
        const std::size_t writing = memory_.transfers().writing_bytes();
        const auto last = future_->last();
        if (!last || last->when <= when) return false;
        if (memory_.make_room() != Memory::Room::made && memory_.transfers().writing_bytes() == writing)
            return false;
    }
}

void Foresight::bring(Node node) {
    if (future_ && !future_->is_known()) end();
    if (!future_) return;
    while (const auto coming = future_->next(memory_.most_bytes())) {
        Region& region = *coming->region;
        Chunk& chunk = region.split_at(coming->at, coming->level);
        if (chunk.state == State::split) region.join(chunk);
        if (chunk.state == State::out || chunk.state == State::split) {
            // What is brought sooner than it must be takes the place of what is used over and over.
            if (ahead_.has_next() || !make_room_until(coming->when, chunk.bytes())) return;
            if (chunk.state == State::split) gather(chunk);
            if (ahead_.bring(chunk, node) == LookAhead::Ahead::no_further) return;
        } else if (region.level_of(chunk) < coming->level) {
            future_->covered_by(chunk);
        }
        future_->pass();
    }
}

} // namespace assay::tier
