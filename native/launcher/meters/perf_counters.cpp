#include "launcher/meters/perf_counters.hpp"

#include "common/dir.hpp"
#include "common/files.hpp"
#include "launcher/meters/counter_scaling.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

namespace assay {

namespace {

/// Privilege level at which an event occurs. A count of user mode alone excludes kernel events, so a fallback
/// to user mode would count switches and migrations as zero. The clock counts at both levels.
enum class EventSide { either, kernel, clock };

struct Event {
    std::string_view name;
    std::uint32_t type;
    std::uint64_t config;
    EventSide side = EventSide::either;
    bool by_default = false;
};

// Every event costs the program time at each fork, thread and switch (figures in
// docs/reference/assay-exec.md), and 0.1 ms per process on virtual performance monitoring units. Therefore
// none is opened unless the plan names it. The set "default" excludes software events, because each has a
// cheaper source with nearly the same value. It contains as many hardware events as most machines can count
// at once.
constexpr std::array known_events{
    Event{"task_clock_s", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, EventSide::clock},
    Event{"context_switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, EventSide::kernel},
    Event{"cpu_migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, EventSide::kernel},
    Event{"page_faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    Event{"minor_faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
    Event{"major_faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
    Event{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, EventSide::either, true},
    Event{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, EventSide::either, true},
    Event{"cache_references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
    Event{"cache_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, EventSide::either, true},
    Event{"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    Event{"branch_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, EventSide::either, true},
    Event{"ref_cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES},
};
constexpr std::string_view frequency = "frequency";
constexpr std::string_view default_names = "default";

constexpr const char* pmu_folder = "/sys/bus/event_source/devices";

const Event& event_named(std::string_view name) {
    return *std::find_if(known_events.begin(), known_events.end(),
                         [&](const Event& e) { return e.name == name; });
}

OpenedEvent open_event(std::uint32_t type, std::uint64_t config) {
    perf_event_attr attr{};
    attr.size = sizeof attr;
    attr.type = type;
    attr.config = config;
    attr.disabled = 1;
    attr.inherit = 1;
    attr.enable_on_exec = 1;
    attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    OpenedEvent opened;
    // One descriptor per event: inherited groups can be read from Linux 6.13 on only.
    const auto attempt = [&] {
        const long fd = ::syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
        opened.fd = Fd{static_cast<int>(fd)};
        opened.error = fd < 0 ? errno : 0;
    };
    attempt();
    if (opened.error == EACCES || opened.error == EPERM) {
        attr.exclude_kernel = 1; // permitted to all users at perf_event_paranoid 2
        attr.exclude_hv = 1;
        opened.user_only = true;
        attempt();
    }
    return opened;
}

std::string paranoid_level(const std::string& root) {
    const auto text = read_file(AT_FDCWD, (root + "/proc/sys/kernel/perf_event_paranoid").c_str());
    return text ? "kernel.perf_event_paranoid is " + text->substr(0, text->find('\n')) : "";
}

std::string explain_open_error(int error, const std::string& root) {
    switch (error) {
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
    case EINVAL:
        return "this machine does not have this counter";
    case ENOSYS:
        return "the kernel has no perf events";
    case EACCES:
    case EPERM: {
        const auto level = paranoid_level(root);
        return level.empty() ? "not permitted: a system call filter (container) forbids perf events"
                             : "not permitted: " + level + "; requires CAP_PERFMON or a lower value";
    }
    default:
        return std::string("perf_event_open: ") + std::strerror(error);
    }
}

/// Return the PMUs, with their types, of a machine with several kinds of cores; none for one kind. A core PMU
/// has a file `cpus` (Intel's cpu_core and cpu_atom, those of arm64). A machine with one kind has a PMU `cpu`
/// or a single core PMU.
std::vector<CorePmu> list_core_pmus(const std::string& root) {
    std::vector<CorePmu> found;
    const std::string folder = root + pmu_folder;
    if (::access((folder + "/cpu").c_str(), F_OK) == 0) return found;
    const Dir dir{::opendir(folder.c_str())};
    if (!dir) return found;
    while (const dirent* entry = ::readdir(dir.get())) {
        if (entry->d_name[0] == '.') continue;
        const std::string pmu = folder + '/' + entry->d_name;
        if (::access((pmu + "/cpus").c_str(), F_OK) != 0) continue;
        if (const auto type = read_number(pmu + "/type")) found.push_back({entry->d_name, *type});
    }
    if (found.size() < 2) found.clear();
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return found;
}

/// Return the configuration of an event that its PMU describes as "event=0x01".
std::optional<std::uint64_t> described(const std::string& path) {
    constexpr std::string_view key = "event=0x";
    const auto text = read_file(AT_FDCWD, path.c_str());
    if (!text || !text->starts_with(key)) return std::nullopt;
    std::uint64_t value = 0;
    std::from_chars(text->data() + key.size(), text->data() + text->size(), value, 16);
    return value;
}

/// CPUID takes a fraction of the time of searching for missing files.
bool has_aperf() {
#if defined(__x86_64__)
    constexpr unsigned power_management = 6; // leaf; bit 0 of ecx: APERF and MPERF
    unsigned a = 0, b = 0, c = 0, d = 0;
    __cpuid_count(power_management, 0, a, b, c, d);
    return (c & 1U) != 0;
#else
    return false;
#endif
}

std::optional<PerfReading> read_event(const Fd& fd) {
    PerfReading reading;
    static_assert(sizeof reading == 3 * sizeof(std::uint64_t));
    if (!fd || ::read(fd.get(), &reading, sizeof reading) != sizeof reading) return std::nullopt;
    return reading;
}

} // namespace

bool PerfCounters::known(std::string_view name) {
    return name == default_names || name == frequency ||
           std::any_of(known_events.begin(), known_events.end(),
                       [&](const Event& e) { return e.name == name; });
}

std::vector<std::string> PerfCounters::all_names() {
    std::vector<std::string> names;
    for (const auto& event : known_events) names.emplace_back(event.name);
    names.emplace_back(frequency);
    return names;
}

PerfCounters::PerfCounters(const std::vector<std::string>& names, const std::string& host_root)
    : host_root_(host_root) {
    const auto asked = [&](std::string_view name) {
        return std::find(names.begin(), names.end(), name) != names.end();
    };
    const bool with_default = asked(default_names);
    for (const auto& event : known_events) {
        if ((event.by_default && with_default) || asked(event.name)) open_named(event.name);
    }
    asks_frequency_ = with_default || asked(frequency);
    if (asks_frequency_) open_frequency();
}

void PerfCounters::open_named(std::string_view name) {
    const Event& event = event_named(name);
    if (event.type != PERF_TYPE_HARDWARE) return add_event(name, "", open_event(event.type, event.config));
    OpenedEvent plain;
    plain.error = no_hardware_;
    if (no_hardware_ == 0 && !core_pmus_) {
        plain = open_event(event.type, event.config);
        // Every PMU counts cycles. If they are not available, no hardware event is.
        if (plain.error == ENOENT && event.config == PERF_COUNT_HW_CPU_CYCLES) no_hardware_ = plain.error;
        // A recorded machine may have kinds of cores that this one lacks.
        if (plain.fd || !host_root_.empty()) core_pmus_ = list_core_pmus(host_root_);
    } else if (no_hardware_ == 0 && core_pmus_->empty()) {
        plain = open_event(event.type, event.config);
    }
    if (!core_pmus_ || core_pmus_->empty()) return add_event(name, "", std::move(plain));
    // The upper half of the configuration selects the PMU (PERF_PMU_TYPE_SHIFT, Linux 5.13).
    for (const auto& [pmu, type] : *core_pmus_) {
        add_event(name, pmu, open_event(event.type, event.config | static_cast<std::uint64_t>(type) << 32U));
    }
}

void PerfCounters::add_event(std::string_view name, const std::string& pmu, OpenedEvent opened) {
    const EventSide side = event_named(name).side;
    const std::string full = pmu.empty() ? std::string(name) : std::string(name) + '.' + pmu;
    if (!opened.fd) {
        absent_.emplace_back(full, explain_open_error(opened.error, host_root_));
    } else if (opened.user_only && side == EventSide::kernel) {
        absent_.emplace_back(full, explain_open_error(EACCES, host_root_));
    } else {
        const bool user_only = opened.user_only && side != EventSide::clock;
        open_.push_back({std::string(name), pmu, std::move(opened.fd), user_only});
    }
}

void PerfCounters::open_frequency() {
    if (host_root_.empty() && !has_aperf()) return;
    const std::string pmu = host_root_ + pmu_folder + "/msr";
    const auto aperf = described(pmu + "/events/aperf");
    const auto mperf = aperf ? described(pmu + "/events/mperf") : std::nullopt;
    const auto type = mperf ? read_number(pmu + "/type") : std::nullopt;
    if (type) {
        auto first = open_event(static_cast<std::uint32_t>(*type), *aperf);
        auto second = open_event(static_cast<std::uint32_t>(*type), *mperf);
        if (first.fd && second.fd) {
            aperf_ = std::move(first.fd);
            mperf_ = std::move(second.fd);
        }
    }
    lacks_frequency_ = !aperf_;
}

std::vector<std::pair<std::string, bool>> PerfCounters::opened() const {
    std::vector<std::pair<std::string, bool>> names;
    for (const auto& open : open_) names.emplace_back(open.full_name(), open.user_only);
    if (aperf_) names.emplace_back(frequency, false);
    return names;
}

void PerfCounters::read(const std::optional<Nanos>& own) {
    const auto aperf = read_event(aperf_);
    const auto mperf = read_event(mperf_);
    if (aperf && mperf && mperf->value > 0) {
        frequency_ratio_ = static_cast<double>(aperf->value) / static_cast<double>(mperf->value);
    }
    for (auto it = open_.begin(); it != open_.end();) {
        const auto end =
            std::find_if(it, open_.end(), [&](const OpenEvent& o) { return o.name != it->name; });
        std::vector<const OpenEvent*> group;
        for (auto one = it; one != end; ++one) group.push_back(&*one);
        if (own) {
            read_group(group, *own);
        } else {
            for (const OpenEvent* open : group)
                absent_.emplace_back(open->full_name(), "the program did not run");
        }
        it = end;
    }
}

void PerfCounters::read_group(const std::vector<const OpenEvent*>& group, Nanos own) {
    std::vector<PerfReading> readings;
    for (const OpenEvent* open : group) readings.push_back(read_event(open->fd).value_or(PerfReading{}));
    const double scale = scale_of(readings);
    const auto longest_enabled = std::max_element(
        readings.begin(), readings.end(), [](const auto& a, const auto& b) { return a.enabled < b.enabled; });
    // begin_new_exec ends the events of a process that is not dumpable, a few microseconds after they began.
    // Time before exec and in the last steps of exit is not counted either, but is shorter.
    const bool stopped =
        static_cast<Nanos>(longest_enabled->enabled) < own / 4 || longest_enabled->enabled == 0;
    for (std::size_t i = 0; i < group.size(); ++i) {
        const OpenEvent& open = *group[i];
        const std::string name = open.full_name();
        if (stopped) {
            absent_.emplace_back(name,
                                 "the kernel stopped counting: the program changes its privileges when it "
                                 "starts (set-user-ID), or its file cannot be read");
        } else if (scale == 0) {
            absent_.emplace_back(name, "other perf events used all counters of the processor");
        } else {
            const auto& reading = readings[i];
            Count count;
            count.name = name;
            count.value = static_cast<double>(reading.value);
            if (scale > 1) count.value = std::round(count.value * scale);
            if (open.name.ends_with("_s")) count.value /= 1e9;
            count.enabled = static_cast<Nanos>(reading.enabled);
            count.running = static_cast<Nanos>(reading.running);
            count.user_only = open.user_only;
            count.scaled = scale > 1;
            counts_.push_back(std::move(count));
        }
    }
}

} // namespace assay
