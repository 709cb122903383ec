#include "launcher/containment/oom_kills.hpp"

#include "common/files.hpp"
#include "launcher/process/process_tree.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

namespace assay {

namespace {

constexpr Nanos first_interval = 5 * nanos_per_milli;
constexpr Nanos max_check_interval = 100 * nanos_per_milli;

/// Checks use at most this fraction of the time (1/400).
constexpr Nanos duty_divisor = 400;

/// Maximum time between the count of a killed process and its end: freeing its memory takes long.
constexpr Nanos kill_window = 3 * nanos_per_second;

/// Minimum size of a process to be considered: the kernel kills the largest process of a group.
constexpr std::int64_t min_large_bytes = 16 << 20;

/// Values from here on mean no limit (v1 writes the largest number of pages).
constexpr std::int64_t unlimited = std::int64_t{1} << 60;

std::string in_mebibytes(std::int64_t bytes) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.4g MiB", static_cast<double>(bytes) / (1 << 20));
    return text.data();
}

} // namespace

std::optional<MemoryControlGroups> MemoryControlGroups::find(const std::string& root,
                                                             const std::optional<std::string>& parent) {
    MemoryControlGroups found;
    std::string why;
    found.hierarchies_ = Hierarchies::find(root, why);
    if (!found.hierarchies_) return std::nullopt;
    const auto& hierarchies = *found.hierarchies_;
    found.v2_ = !hierarchies.has_v1("memory");
    const char* controller = found.v2_ ? "" : "memory";
    const auto mount = hierarchies.mount(controller);
    auto path = hierarchies.home(controller, parent);
    for (;;) {
        found.groups_.push_back({path, path.size() > mount.size() ? path.substr(mount.size()) : "/"});
        if (path.size() <= mount.size()) break;
        const auto slash = path.rfind('/');
        path.resize(slash == std::string::npos ? 0 : slash);
    }
    return found;
}

std::optional<std::int64_t> MemoryControlGroups::number(const Group& group, const char* file,
                                                        const char* key) const {
    const auto path = (group.path.empty() ? "." : group.path) + '/' + file;
    const auto text = read_file(hierarchies_->root(), path.c_str());
    if (!text) return std::nullopt;
    if (key != nullptr) return number_after(*text, key);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    return error == std::errc{} ? std::optional{value} : std::nullopt;
}

std::optional<std::int64_t> MemoryControlGroups::kills() const {
    for (const auto& group : groups_) {
        if (const auto count = number(group, v2_ ? "memory.events" : "memory.oom_control", "oom_kill"))
            return count;
    }
    return std::nullopt;
}

std::optional<std::int64_t> MemoryControlGroups::limit(const Group& group) const {
    const auto bytes = number(group, v2_ ? "memory.max" : "memory.limit_in_bytes", nullptr);
    return bytes && *bytes < unlimited ? bytes : std::nullopt;
}

bool MemoryControlGroups::was_reached(const Group& group) const {
    if (!v2_) {
        const auto peak = number(group, "memory.max_usage_in_bytes", nullptr);
        return limit_was_reached(peak.value_or(0), limit(group).value_or(unlimited));
    }
    if (const auto own = number(group, "memory.events.local", "oom")) return *own > 0; // Linux 5.2
    return number(group, "memory.events", "oom").value_or(0) > 0;
}

std::string MemoryControlGroups::reached() const {
    for (const auto& group : groups_) {
        const auto bytes = limit(group);
        if (bytes && was_reached(group))
            return "limit " + in_mebibytes(*bytes) + " of the control group " + group.name;
    }
    return "no visible control group has reached its limit: the machine was out of memory";
}

OomKillDetector::OomKillDetector(Containment& containment, const Plan& plan, pid_t program, Nanos start)
    : containment_(containment), program_(program), enabled_(plan.end_on_memory_kill),
      interval_(first_interval), due_(enabled_ ? start + interval_ : never) {
    if (!enabled_) return;
    groups_ = MemoryControlGroups::find(plan.cgroup_root, plan.cgroup_parent);
    if (groups_ && !containment_.memory_kills()) kills_before_ = groups_->kills().value_or(0);
}

bool OomKillDetector::killed(Nanos now, bool program_killed) {
    if (const auto own = containment_.memory_kills()) return *own > 0;
    const auto count = groups_ ? groups_->kills() : std::nullopt;
    if (!count) return false;
    if (*count > kills_before_) {
        kills_before_ = *count;
        window_start_ =
            last_check_; // the last count may have preceded the kill, and the last list of processes its end
        window_end_ = now + kill_window;
    }
    const auto left = containment_.processes();
    const auto ended = [&](pid_t pid) { return std::find(left.begin(), left.end(), pid) == left.end(); };
    if (std::any_of(large_.begin(), large_.end(), ended)) last_ended_ = now;
    large_ = large_processes(left);
    last_check_ = now;
    return now < window_end_ && (program_killed || last_ended_ >= window_start_);
}

/// The program itself is excluded: its exit status is known.
std::vector<pid_t> OomKillDetector::large_processes(const std::vector<pid_t>& tree) const {
    static const std::int64_t pages = min_large_bytes / ::sysconf(_SC_PAGESIZE);
    std::vector<pid_t> found;
    for (const pid_t pid : tree) {
        if (pid == program_) continue;
        const auto stat = proc_stat(pid);
        if (!stat) continue;
        const bool was_large = std::find(large_.begin(), large_.end(), pid) != large_.end();
        const bool ending = stat->exiting() || stat->resident_pages == 0; // its memory is already freed
        if (stat->resident_pages >= pages || (was_large && ending)) found.push_back(pid);
    }
    return found;
}

void OomKillDetector::check(Nanos now, bool program_killed) {
    if (containment_.hit_memory_limit() || !killed(now, program_killed)) return;
    found_ = "the kernel killed a process of the launch for lack of memory (" +
             (groups_ ? groups_->reached() : std::string("the machine was out of memory")) + ")";
    due_ = never;
}

void OomKillDetector::run(Nanos now) {
    if (found_ || !enabled_) return;
    const Nanos used_before = now_ns(CLOCK_THREAD_CPUTIME_ID);
    check(now, false);
    if (found_) return;
    interval_ = std::min(interval_ + interval_ / 2, max_check_interval);
    // Listing the processes of a large tree takes long.
    due_ = now + std::max(interval_, (now_ns(CLOCK_THREAD_CPUTIME_ID) - used_before) * duty_divisor);
}

void OomKillDetector::end(Nanos now, bool program_killed) {
    if (!found_ && enabled_) check(now, program_killed);
}

} // namespace assay
