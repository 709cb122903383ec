#include "launcher/readback/workers.hpp"

#include <algorithm>
#include <tuple>

namespace assay {

namespace {

constexpr std::size_t max_states = 64;

/// A process may be missed by some readings, and would be counted anew from its start.
constexpr std::size_t patience = 8;

bool worked_more(const Worker& a, const Worker& b) {
    return std::tuple(a.ticks, a.last) > std::tuple(b.ticks, b.last);
}

} // namespace

void Workers::add(const ProcStat& stat, std::string image, ProcessState state) {
    const auto [place, fresh] = living_.try_emplace(Key{stat.pid, stat.start_ticks});
    Stint& stint = place->second;
    if (!fresh && stint.image != image && stint.state != state) {
        fold(stint, gone_);
        const auto before = stint.ticks;
        stint = Stint{};
        stint.first_ticks = before;
    } else if (stint.state.maps && state.maps) {
        state.maps->merge(*stint.state.maps); // a library that is closed again did serve
    }
    stint.image = std::move(image);
    stint.state = std::move(state);
    stint.ticks = stat.own_ticks;
    stint.resident_pages = std::max(stint.resident_pages, stat.resident_pages);
    stint.last = reading_;
}

void Workers::next() {
    for (auto place = living_.begin(); place != living_.end();) {
        if (reading_ - place->second.last < patience) {
            ++place;
            continue;
        }
        fold(place->second, gone_);
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
    auto found = gone_;
    for (const auto& [key, stint] : living_) fold(stint, found);
    std::sort(found.begin(), found.end(), worked_more);
    return found;
}

void Workers::fold(const Stint& stint, std::vector<Worker>& into) {
    auto place = std::find_if(into.begin(), into.end(),
                              [&](const Worker& worker) { return worker.state == stint.state; });
    if (place == into.end()) {
        if (into.size() >= max_states) into.erase(std::max_element(into.begin(), into.end(), worked_more));
        place = into.insert(into.end(), Worker{});
        place->state = stint.state;
    }
    place->ticks += stint.ticks - stint.first_ticks;
    place->resident_pages += stint.resident_pages;
    ++place->processes;
    place->last = std::max(place->last, stint.last);
}

} // namespace assay
