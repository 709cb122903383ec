#include "launcher/meters/host_meter.hpp"

#include "common/fd.hpp"
#include "common/files.hpp"
#include "launcher/process/process_tree.hpp"

#include <fcntl.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace assay {

namespace {

std::int64_t take_field(const char*& at, const char* end) {
    while (at < end && *at == ' ') ++at;
    std::int64_t value = 0;
    at = std::from_chars(at, end, value).ptr;
    return value;
}

bool has_swap_area(const std::string& root) {
    if (root.empty()) { // sysinfo(2) takes a tenth of the time of reading the file
        struct sysinfo info{};
        return ::sysinfo(&info) == 0 && info.totalswap > 0;
    }
    const auto areas = read_file(AT_FDCWD, (root + "/proc/swaps").c_str());
    return areas && std::count(areas->begin(), areas->end(), '\n') > 1; // more lines than the heading
}

} // namespace

std::optional<HostTicks> read_host(const std::string& root, const std::vector<int>& cpus) {
    const Fd fd{::open((root + "/proc/stat").c_str(), O_RDONLY | O_CLOEXEC)};
    if (!fd) return std::nullopt;
    // Read the CPU lines at the beginning only, without the long line of interrupts after them.
    std::string text(128 + 160 * (static_cast<std::size_t>(cpus.empty() ? 0 : cpus.back()) + 1), '\0');
    const ssize_t n = ::read(fd.get(), text.data(), text.size());
    if (n <= 0) return std::nullopt;
    HostTicks total;
    const char* at = text.data();
    const char* const end = at + n;
    while (at < end) {
        const char* line_end = std::find(at, end, '\n');
        if (end - at < 4 || std::string_view{at, 3} != "cpu") break;
        at += 3;
        if (*at != ' ') {
            int cpu = 0;
            at = std::from_chars(at, line_end, cpu).ptr;
            if (std::binary_search(cpus.begin(), cpus.end(), cpu)) {
                const auto user = take_field(at, line_end);
                const auto nice = take_field(at, line_end);
                const auto system = take_field(at, line_end);
                take_field(at, line_end); // idle
                take_field(at, line_end); // iowait
                const auto irq = take_field(at, line_end);
                const auto softirq = take_field(at, line_end);
                total.steal += take_field(at, line_end);
                total.busy += user + nice + system + irq + softirq; // user includes guest time
            }
        }
        at = line_end + 1;
    }
    return total;
}

std::optional<SwapPages> read_swap(const std::string& root) {
    SwapPages pages;
    pages.possible = has_swap_area(root);
    if (!pages.possible) return pages;
    const auto text = read_file(AT_FDCWD, (root + "/proc/vmstat").c_str());
    const auto in = text ? number_after(*text, "pswpin") : std::nullopt;
    const auto out = text ? number_after(*text, "pswpout") : std::nullopt;
    if (!in || !out) return std::nullopt;
    pages.in = *in;
    pages.out = *out;
    return pages;
}

std::optional<std::string> clock_source(const std::string& root) {
    const auto text = read_file(
        AT_FDCWD, (root + "/sys/devices/system/clocksource/clocksource0/current_clocksource").c_str());
    if (!text || text->empty()) return std::nullopt;
    return text->substr(0, text->find('\n'));
}

void HostMeter::begin() {
    swap_ = read_swap(root_);
    clock_source_ = clock_source(root_);
    launcher_ = launcher_time();
    ticks_ = read_host(root_, cpus_);
}

HostActivity HostMeter::end(const std::optional<Nanos>& tree_cpu, Absent& absent) const {
    HostActivity activity;
    activity.cpus = static_cast<int>(cpus_.size());
    const auto ticks = read_host(root_, cpus_);
    const auto launcher = launcher_time();
    if (ticks && ticks_) {
        activity.steal_s = seconds(ticks_to_ns(ticks->steal - ticks_->steal));
        activity.busy_s = seconds(ticks_to_ns(ticks->busy - ticks_->busy));
        if (tree_cpu) activity.tree_s = seconds(*tree_cpu);
        if (launcher && launcher_) activity.launcher_s = seconds(*launcher - *launcher_);
    } else {
        for (const char* name : {"host.steal_s", "host.busy_s"})
            absent.emplace_back(name, "/proc/stat cannot be read");
    }
    const auto swap = read_swap(root_);
    if (swap && swap_ && swap->possible == swap_->possible)
        activity.swap = SwapPages{swap->possible, swap->in - swap_->in, swap->out - swap_->out};
    else
        absent.emplace_back("host.swap", swap && swap_ ? "a swap area was added or removed during the launch"
                                                       : "/proc/vmstat does not contain it");
    activity.clock_source = clock_source_;
    if (!activity.clock_source)
        absent.emplace_back("host.clock_source", "/sys does not name the clock source");
    return activity;
}

std::optional<Nanos> HostMeter::launcher_time() const {
    clockid_t launcher_clock = 0;
    timespec launcher_used{};
    if (::clock_getcpuclockid(launcher_pid_, &launcher_clock) != 0 ||
        ::clock_gettime(launcher_clock, &launcher_used) != 0)
        return std::nullopt;
    return to_nanos(launcher_used) + now_ns(CLOCK_PROCESS_CPUTIME_ID);
}

} // namespace assay
