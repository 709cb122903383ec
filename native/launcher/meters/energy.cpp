#include "launcher/meters/energy.hpp"

#include "common/dir.hpp"
#include "common/files.hpp"

#include <errno.h>
#include <fcntl.h>

#include <charconv>
#include <cstring>
#include <string_view>

namespace assay {

namespace {

/// A range of 65 kJ (AMD) lasts for one minute at 1 kW.
constexpr Nanos between_readings = 30 * nanos_per_second;

std::optional<std::int64_t> read_counter(const Fd& fd) {
    char buffer[32];
    const auto text = reread(fd.get(), buffer, sizeof buffer);
    std::int64_t value = 0;
    if (!text || std::from_chars(text->data(), text->data() + text->size(), value).ec != std::errc{})
        return std::nullopt;
    return value;
}

/// Return whether a zone is a package: "intel-rapl:0", but neither its subzones ("intel-rapl:0:0") nor
/// "intel-rapl-mmio:0", a duplicate.
bool top_zone(std::string_view name) {
    constexpr std::string_view prefix = "intel-rapl:";
    return name.starts_with(prefix) && name.find(':', prefix.size()) == std::string_view::npos;
}

} // namespace

EnergyMeter::EnergyMeter(const std::string& root) {
    const std::string folder = root + "/sys/class/powercap";
    const Dir dir{::opendir(folder.c_str())};
    if (!dir) return;
    while (const dirent* entry = ::readdir(dir.get())) {
        if (!top_zone(entry->d_name)) continue;
        const std::string zone = folder + '/' + entry->d_name;
        const auto name = read_file(AT_FDCWD, (zone + "/name").c_str());
        if (!name || !name->starts_with("package")) continue; // "psys" covers more than the processor
        Package package;
        package.counter = Fd{::open((zone + "/energy_uj").c_str(), O_RDONLY | O_CLOEXEC)};
        package.range = read_number(zone + "/max_energy_range_uj").value_or(0);
        if (!package.counter) {
            why_absent_ = std::string("/sys/class/powercap/") + entry->d_name +
                          "/energy_uj: " + std::strerror(errno) +
                          (errno == EACCES ? " (Linux 5.10 and later: root only)" : "");
            packages_.clear();
            return;
        }
        packages_.push_back(std::move(package));
    }
}

void EnergyMeter::begin() {
    for (auto& package : packages_) package.last = read_counter(package.counter).value_or(0);
    if (!packages_.empty()) due_ = now_ns() + between_readings;
}

void EnergyMeter::run(Nanos now) {
    add();
    due_ = now + between_readings;
}

void EnergyMeter::add() {
    for (auto& package : packages_) {
        const auto now = read_counter(package.counter);
        if (!now) {
            why_absent_ = "a RAPL counter became unreadable during the launch";
            packages_.clear();
            return;
        }
        std::int64_t used = *now - package.last;
        if (used < 0) used += package.range; // the counter has wrapped around
        if (used < 0) { // the counter was reset or has no known range: the energy is unknown
            why_absent_ = "a RAPL counter decreased by more than its range";
            packages_.clear();
            return;
        }
        microjoules_ += used;
        package.last = *now;
    }
}

std::optional<double> EnergyMeter::joules() const {
    if (packages_.empty()) return std::nullopt;
    return static_cast<double>(microjoules_) / 1e6;
}

} // namespace assay
