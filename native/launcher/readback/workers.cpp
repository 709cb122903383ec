#include "launcher/readback/workers.hpp"

#include <algorithm>
#include <tuple>

namespace assay {

namespace {

constexpr std::size_t max_states = 64;

/// A process may be missing from some readings; if it were dropped at once, its CPU time would be counted
/// twice.
constexpr std::size_t max_missed_readings = 8;

bool worked_more(const Worker& a, const Worker& b) {
    return std::tuple(a.ticks, a.last) > std::tuple(b.ticks, b.last);
}

} // namespace

void Workers::add(const ProcStat& stat, std::string image, ProcessState state) {
    const auto [place, fresh] = living_.try_emplace(Key{stat.pid, stat.start_ticks});
    StateInterval& interval = place->second;
    if (!fresh && interval.image != image && interval.state != state) {
        fold(interval, finished_);
        const auto before = interval.ticks;
        interval = StateInterval{};
        interval.first_ticks = before;
    } else if (interval.state.maps && state.maps) {
        state.maps->merge(*interval.state.maps); // a library that was closed again counts as used
    }
    interval.image = std::move(image);
    interval.state = std::move(state);
    interval.ticks = stat.own_ticks;
    interval.resident_pages = std::max(interval.resident_pages, stat.resident_pages);
    interval.last = reading_;
}

void Workers::next() {
    for (auto place = living_.begin(); place != living_.end();) {
        if (reading_ - place->second.last < max_missed_readings) {
            ++place;
            continue;
        }
        fold(place->second, finished_);
        place = living_.erase(place);
    }
    ++reading_;
}

void Workers::ended(const ProcStat& stat) {
    const auto place = living_.find(Key{stat.pid, stat.start_ticks});
    if (place == living_.end()) return;
    if (place->second.state.name != stat.name) {
        ProcessState unread;
        unread.name = stat.name;
        add(stat, {}, std::move(unread));
    }
    place->second.ticks = stat.own_ticks;
}

std::vector<Worker> Workers::report() const {
    auto found = finished_;
    for (const auto& [key, interval] : living_) fold(interval, found);
    std::sort(found.begin(), found.end(), worked_more);
    return found;
}

void Workers::fold(const StateInterval& interval, std::vector<Worker>& into) {
    auto place = std::find_if(into.begin(), into.end(),
                              [&](const Worker& worker) { return worker.state == interval.state; });
    if (place == into.end()) {
        if (into.size() >= max_states) into.erase(std::max_element(into.begin(), into.end(), worked_more));
        place = into.insert(into.end(), Worker{});
        place->state = interval.state;
    }
    place->ticks += interval.ticks - interval.first_ticks;
    place->resident_pages += interval.resident_pages;
    ++place->processes;
    place->last = std::max(place->last, interval.last);
}

} // namespace assay
