#include "launcher/process/process_tree.hpp"

#include "common/dir.hpp"
#include "common/files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <string>
#include <unordered_map>

namespace assay {

namespace {

/// Parse a name that consists of digits; return 0 for any other name.
pid_t parse_pid(std::string_view name) {
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    return error == std::errc{} && end == name.data() + name.size() && pid > 0 ? pid : 0;
}

/// Call `each` with the numbers among the names of a folder, at most `limit` times.
template <typename Each>
void each_number_in(const char* folder, Each each, std::size_t limit = SIZE_MAX) {
    const Dir dir{::opendir(folder)};
    if (!dir) return;
    while (const dirent* entry = limit > 0 ? ::readdir(dir.get()) : nullptr) {
        const pid_t number = parse_pid(entry->d_name);
        if (number <= 0) continue;
        each(number);
        --limit;
    }
}

std::vector<pid_t> children_of(pid_t pid) {
    std::vector<pid_t> children;
    const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
    each_number_in(tasks.c_str(), [&](pid_t thread) {
        const auto text = read_file(AT_FDCWD, (tasks + '/' + std::to_string(thread) + "/children").c_str());
        std::string_view rest = text ? std::string_view{*text} : std::string_view{};
        while (!rest.empty()) {
            const auto space = rest.find(' ');
            if (const pid_t child = parse_pid(rest.substr(0, space)); child > 0) children.push_back(child);
            if (space == std::string_view::npos) break;
            rest.remove_prefix(space + 1);
        }
    });
    return children;
}

/// Return all processes by parent, for kernels without /proc/PID/task/TID/children
/// (CONFIG_PROC_CHILDREN).
std::unordered_multimap<pid_t, pid_t> all_by_parent() {
    std::unordered_multimap<pid_t, pid_t> children;
    each_number_in("/proc", [&](pid_t pid) {
        if (const auto stat = proc_stat(pid)) children.emplace(stat->parent, pid);
    });
    return children;
}

bool kernel_lists_children() {
    return ::access("/proc/thread-self/children", R_OK) == 0;
}

} // namespace

std::optional<ProcStat> parse_proc_stat(std::string_view text) {
    // The second field is the name in parentheses, which may contain parentheses and spaces.
    const auto open = text.find('(');
    const auto close = text.rfind(')');
    if (open == std::string_view::npos || close == std::string_view::npos || close + 2 >= text.size())
        return std::nullopt;
    ProcStat stat;
    stat.pid = parse_pid(text.substr(0, open > 0 ? open - 1 : 0));
    stat.name = text.substr(open + 1, close - open - 1);
    stat.state = text[close + 2];
    std::string_view rest = text.substr(close + 3);
    int field = 4;
    while (!rest.empty()) {
        const auto start = rest.find_first_not_of(" \n");
        if (start == std::string_view::npos) break;
        rest.remove_prefix(start);
        std::int64_t value = 0;
        std::from_chars(rest.data(), rest.data() + rest.size(), value);
        switch (field) {
        case 4:
            stat.parent = static_cast<pid_t>(value);
            break;
        case 9:
            stat.flags = static_cast<unsigned>(value);
            break;
        case 10:
        case 12:
            stat.own_faults += value;
            break;
        case 14:
        case 15:
            stat.own_ticks += value;
            break;
        case 16:
        case 17:
            stat.waited_ticks += value;
            break;
        case 19:
            stat.nice = static_cast<int>(value);
            break;
        case 20:
            stat.threads = static_cast<int>(value);
            break;
        case 22:
            stat.start_ticks = static_cast<std::uint64_t>(value);
            break;
        case 24:
            stat.resident_pages = value;
            break;
        case 40:
            stat.priority = static_cast<int>(value);
            break;
        case 41:
            stat.policy = static_cast<int>(value);
            return stat;
        default:
            break;
        }
        const auto space = rest.find(' ');
        if (space == std::string_view::npos) break;
        rest.remove_prefix(space);
        ++field;
    }
    return std::nullopt;
}

std::optional<ProcStat> proc_stat(pid_t pid) {
    const auto text = read_file(AT_FDCWD, ("/proc/" + std::to_string(pid) + "/stat").c_str());
    return text ? parse_proc_stat(*text) : std::nullopt;
}

namespace {

/// Return the number of times that a process was scheduled: the third number of /proc/PID/schedstat
/// (Documentation/scheduler/sched-stats.rst).
std::optional<std::uint64_t> runs_of(const std::string& pid) {
    const auto text = read_file(AT_FDCWD, ("/proc/" + pid + "/schedstat").c_str());
    std::uint64_t runs = 0;
    if (!text || std::sscanf(text->c_str(), "%*u %*u %" SCNu64, &runs) != 1) return {};
    return runs;
}

} // namespace

bool has_run(pid_t pid) {
    static const bool counted = runs_of("self").value_or(0) > 0;
    if (!counted) return true;
    return runs_of(std::to_string(pid)).value_or(0) > 0;
}

std::vector<pid_t> descendants(pid_t root, std::size_t limit) {
    /// The kernel lists children per thread. For a process with many threads, scanning all processes is
    /// cheaper.
    constexpr int many_threads = 64;
    struct Parent {
        pid_t pid;
        int threads;
    };
    std::vector<pid_t> found;
    const bool listed = kernel_lists_children();
    std::optional<std::unordered_multimap<pid_t, pid_t>> by_parent;
    std::vector<Parent> level{{root, 1}};
    while (!level.empty() && found.size() < limit) {
        std::vector<pid_t> next;
        for (const auto& [pid, threads] : level) {
            if (listed && threads <= many_threads) {
                const auto children = children_of(pid);
                next.insert(next.end(), children.begin(), children.end());
            } else {
                if (!by_parent) by_parent = all_by_parent();
                const auto [begin, end] = by_parent->equal_range(pid);
                for (auto it = begin; it != end; ++it) next.push_back(it->second);
            }
        }
        level.clear();
        for (const pid_t pid : next) {
            const auto stat = proc_stat(pid);
            level.push_back({pid, stat ? stat->threads : 1});
            if (stat && stat->alive() && found.size() < limit) found.push_back(pid);
        }
    }
    return found;
}

std::vector<pid_t> threads_of(pid_t pid, std::size_t limit) {
    std::vector<pid_t> threads;
    each_number_in(("/proc/" + std::to_string(pid) + "/task").c_str(),
                   [&](pid_t thread) { threads.push_back(thread); }, limit);
    return threads;
}

Nanos ticks_to_ns(std::int64_t ticks) {
    static const long per_second = ::sysconf(_SC_CLK_TCK);
    return ticks * (nanos_per_second / per_second);
}

std::optional<ResidentMemory> resident_of(const std::vector<pid_t>& pids) {
    std::optional<ResidentMemory> total;
    for (const pid_t pid : pids) {
        const auto status = read_file(AT_FDCWD, ("/proc/" + std::to_string(pid) + "/status").c_str());
        const auto anon = status ? number_after(*status, "RssAnon") : std::nullopt;
        const auto shmem = status ? number_after(*status, "RssShmem") : std::nullopt;
        const auto files = status ? number_after(*status, "RssFile") : std::nullopt;
        if (!anon || !shmem || !files) continue; // a zombie has none of these lines
        if (!total) total.emplace();
        total->anonymous += (*anon + *shmem) * 1024;
        total->largest_files = std::max(total->largest_files, *files * 1024);
    }
    return total;
}

} // namespace assay
