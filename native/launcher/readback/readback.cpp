#include "launcher/readback/readback.hpp"

#include "common/cpulist.hpp"
#include "common/files.hpp"
#include "launcher/readback/reading_budget.hpp"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

namespace assay {

namespace {

constexpr std::array<Nanos, 5> first_readings{2 * nanos_per_milli, 8 * nanos_per_milli, 32 * nanos_per_milli,
                                              128 * nanos_per_milli, 512 * nanos_per_milli};
constexpr Nanos late_interval = nanos_per_second;
constexpr Nanos retry_interval = nanos_per_milli;

/// Reading numa_maps or smaps walks page tables and locks the memory map of the process. It uses at most 1/20
/// of the time during the first readings, and 1/200 afterwards.
constexpr Nanos early_duty_divisor = 20;
constexpr Nanos late_duty_divisor = 200;

/// Maximum time after the start at which a dynamic loader may still be active.
constexpr double loader_s = 0.1;

constexpr std::size_t max_processes = 64;
constexpr std::size_t min_threads = 256; // enough for one thread per CPU on most machines
constexpr std::size_t max_threads = 1024;

std::string proc_path(pid_t pid, const char* file) {
    return "/proc/" + std::to_string(pid) + '/' + file;
}

std::optional<std::string> read_proc(pid_t pid, const char* file) {
    return read_file(AT_FDCWD, proc_path(pid, file).c_str());
}

template <typename Each>
void each_line(std::string_view text, Each each) {
    while (!text.empty()) {
        const auto end = text.find('\n');
        each(text.substr(0, end));
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 1);
    }
}

template <typename Each>
void each_word(std::string_view line, Each each) {
    while (!line.empty()) {
        const auto end = line.find(' ');
        if (end != 0) each(line.substr(0, end));
        if (end == std::string_view::npos) break;
        line.remove_prefix(end + 1);
    }
}

/// Return the path of a line of /proc/PID/maps, after address, permissions, offset, device and inode.
std::string_view mapped_path(std::string_view line) {
    for (int field = 0; field < 5; ++field) {
        const auto space = line.find(' ');
        if (space == std::string_view::npos) return {};
        line.remove_prefix(space);
        line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    }
    return line.starts_with('/') ? line : std::string_view{};
}

std::int64_t number_in(std::string_view text) {
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

/// Return the number of system call filters of a process.
std::optional<std::int64_t> filters_of(std::string_view status) {
    if (const auto filters = number_after(status, "Seccomp_filters")) return filters;
    // Before Linux 5.9 the kernel only reports whether there is any.
    const auto mode = number_after(status, "Seccomp");
    return mode ? std::optional<std::int64_t>(*mode == 0 ? 0 : 1) : std::nullopt;
}

/// Return whether a process only starts and watches the processes of a parallel program. Its threads wait,
/// and its affinity mask is that of the host.
bool is_process_launcher(const ProcStat& stat) {
    static constexpr auto names = std::to_array<std::string_view>(
        {"aprun", "hydra_bstrap_pr", "hydra_pmi_proxy", "jsrun", "mpiexec", "mpiexec.hydra", "mpirun",
         "orted", "orterun", "palsd", "prte", "prted", "prterun", "slurmstepd", "srun", "torchrun"});
    return std::find(names.begin(), names.end(), stat.name) != names.end();
}

bool used_more_cpu(const ProcStat& a, const ProcStat& b) {
    if (a.own_ticks != b.own_ticks) return a.own_ticks > b.own_ticks;
    if (a.threads != b.threads) return a.threads > b.threads;
    if (a.start_ticks != b.start_ticks)
        return a.start_ticks > b.start_ticks; // prefers the child of a script to its shell
    return a.pid > b.pid;
}

} // namespace

Readback::Readback(Containment& containment, const Plan& plan, pid_t program, Nanos start)
    : containment_(containment), plan_(plan), program_(program), start_(start),
      due_(plan.readback.any() ? start + first_readings.front() : never) {
    if (plan.affinity_calls == AffinityCalls::allowed || !plan.readback.status) return;
    const auto status = read_proc(::getpid(), "status");
    const auto own = status ? filters_of(*status) : std::nullopt;
    // If the kernel does not count filters, a filter that we inherited hides those of the program.
    if (own && (*own == 0 || line_after(*status, "Seccomp_filters"))) launcher_filters_ = own;
}

void Readback::run(Nanos now) {
    const std::size_t before = readings_;
    // CPU time, because preemption while reading costs the program nothing and must not reduce the sampling
    // rate.
    const Nanos used_before = now_ns(CLOCK_THREAD_CPUTIME_ID);
    read_tree(now);
    const Nanos cost = now_ns(CLOCK_THREAD_CPUTIME_ID) - used_before;
    Nanos wait = retry_interval;
    if (readings_ != before) {
        Nanos next = start_ + late_interval;
        for (const Nanos time : first_readings) {
            if (start_ + time > now) {
                next = start_ + time;
                break;
            }
        }
        wait = next > now ? next - now : late_interval;
    }
    const Nanos duty = now - start_ < first_readings.back() ? early_duty_divisor : late_duty_divisor;
    due_ = now + std::max(wait, cost * duty);
}

void Readback::read_tree(Nanos now) {
    auto pids = containment_.processes();
    const int leaders = plan_.instances.empty() ? 0 : 1;
    processes_peak_ = std::max(processes_peak_, static_cast<int>(pids.size()) - leaders);
    if (pids.size() > max_processes) pids.resize(max_processes);
    std::vector<ProcStat> tree;
    for (const pid_t pid : pids) {
        const auto stat = proc_stat(pid);
        if (!stat || !stat->alive()) continue;
        const bool of_leader = !plan_.instances.empty() && (pid == program_ || stat->parent == program_);
        if (of_leader && !stat->executed()) continue;     // the leader itself, or an instance before exec
        if (pid == program_ && !stat->executed()) return; // our own code before exec
        tree.push_back(*stat);
    }
    const bool only_launchers = std::all_of(tree.begin(), tree.end(), is_process_launcher);
    if (!only_launchers) std::erase_if(tree, is_process_launcher);
    if (tree.empty()) return;
    const auto subject = std::min_element(tree.begin(), tree.end(), used_more_cpu);

    ReadbackResult reading;
    reading.at_s = seconds(now - start_);
    bool known = false;
    for (const auto& stat : tree) {
        auto state = read_state(stat, reading.at_s);
        if (!state) continue;
        if (stat.pid == subject->pid) {
            reading.state = state->process;
            known = true;
        }
        // Instances have different CPUs, which their reports contain.
        if (!plan_.instances.empty()) state->process.cpus.reset();
        workers_.add(stat, std::move(state->image), std::move(state->process));
    }
    workers_.next();
    if (!known || !read_subject(*subject, reading)) return;
    if (!only_launchers) count_threads(tree, now);
    ++readings_;

    // A later reading replaces an earlier one, unless the process of the earlier one used more CPU time: a
    // script may end with a short helper after the main program has ended. A process that only starts the
    // program is always replaced.
    if (!result_ || reading.pid == result_->pid || subject->own_ticks >= subject_ticks_ || seen_launcher_) {
        seen_launcher_ = only_launchers;
        if (result_ && result_->pid == reading.pid && result_->anon_huge_bytes && reading.anon_huge_bytes) {
            reading.anon_huge_bytes = std::max(*reading.anon_huge_bytes, *result_->anon_huge_bytes);
        }
        subject_ticks_ = subject->own_ticks;
        result_ = std::move(reading);
    }
    result_->maps = maps_;
    result_->processes_peak = processes_peak_;
    result_->threads_peak = threads_peak_;
    result_->thread_cpus = thread_cpus_;
}

namespace {

/// Return whether a process has an environment, which may be empty. It has none for a moment after exec,
/// before its new stack exists, and at its end, after its memory is freed.
bool has_environment(pid_t pid) {
    constexpr int env_end = 51; // proc_pid_stat(5)
    const auto text = read_proc(pid, "stat");
    if (!text) return false;
    std::string_view rest = *text;
    rest.remove_prefix(std::min(rest.rfind(')'), rest.size()));
    for (int field = 2; field < env_end; ++field) {
        const auto space = rest.find(' ');
        if (space == std::string_view::npos) return false;
        rest.remove_prefix(space + 1);
    }
    return !rest.starts_with('0');
}

/// Return whether the last reading failed for lack of permission: the process belongs to another user or has
/// raised its privileges.
bool is_denied() {
    return errno == EACCES || errno == EPERM;
}

/// Return an identifier that changes at exec: the executable and its address. Other mappings change at any
/// time. Empty if the executable cannot be read.
std::string image_of(pid_t pid, std::string_view maps) {
    const auto path = proc_path(pid, "exe");
    struct stat file{};
    std::array<char, PATH_MAX> buffer{};
    const ssize_t length = ::readlink(path.c_str(), buffer.data(), buffer.size());
    if (length <= 0 || ::stat(path.c_str(), &file) != 0) return {};
    std::string image = std::to_string(file.st_dev) + ':' + std::to_string(file.st_ino);
    const std::string name = ' ' + std::string(buffer.data(), static_cast<std::size_t>(length));
    bool placed = false;
    each_line(maps, [&](std::string_view line) {
        if (placed || !line.ends_with(name)) return;
        image += ' ';
        image += line.substr(0, line.find('-'));
        placed = true;
    });
    return image;
}

/// Return whether the dynamic loader is active: it maps preloaded objects before the C library.
bool is_loading(std::string_view maps) {
    return maps.find("/ld-linux") != std::string_view::npos &&
           maps.find("/libc.so") == std::string_view::npos && maps.find("/libc-2") == std::string_view::npos;
}

} // namespace

std::optional<Readback::Reading> Readback::read_state(const ProcStat& stat, double at_s) {
    Reading found{stat.name, {}};
    ProcessState& state = found.process;
    state.name = stat.name;
    if (plan_.readback.status && !read_status(stat, state)) return std::nullopt;
    if (plan_.readback.environ && !read_environment(stat, state)) return std::nullopt;
    if (!plan_.readback.maps) return found;
    const auto text = read_proc(stat.pid, "maps");
    if (!text) return is_denied() ? std::optional(std::move(found)) : std::nullopt;
    if (text->empty() || (at_s < loader_s && is_loading(*text))) return std::nullopt;
    found.image = image_of(stat.pid, *text);
    auto wanted = wanted_maps(*text);
    if (!maps_) maps_.emplace();
    maps_->insert(wanted.begin(), wanted.end());
    // Without a selection all files are listed, and hardly any two processes would share a state.
    if (plan_.map_names) state.maps = std::move(wanted);
    return found;
}

bool Readback::read_status(const ProcStat& stat, ProcessState& state) const {
    const auto status = read_proc(stat.pid, "status");
    const auto list = status ? line_after(*status, "Cpus_allowed_list") : std::nullopt;
    if (!list) return false;
    state.cpus = parse_cpulist(*list);
    state.policy = stat.policy;
    state.priority = stat.priority;
    state.nice = stat.nice;
    if (const auto thp = number_after(*status, "THP_enabled")) state.thp_enabled = *thp != 0;
    const auto filters = launcher_filters_ ? filters_of(*status) : std::nullopt;
    if (filters) state.call_filters = *filters - *launcher_filters_;
    return true;
}

bool Readback::read_environment(const ProcStat& stat, ProcessState& state) const {
    const auto environment = read_proc(stat.pid, "environ");
    if (!environment) return is_denied();
    std::string_view rest = *environment;
    if (rest.empty() && !has_environment(stat.pid)) return false;
    auto& found = state.environ.emplace();
    while (!rest.empty()) {
        const auto entry = rest.substr(0, rest.find('\0'));
        rest.remove_prefix(std::min(entry.size() + 1, rest.size()));
        const auto equals = entry.find('=');
        if (equals == std::string_view::npos) continue;
        const std::string key{entry.substr(0, equals)};
        const auto& wanted = plan_.environ_names;
        if (std::find(wanted.begin(), wanted.end(), key) != wanted.end()) {
            found.emplace(key, entry.substr(equals + 1));
        }
    }
    return true;
}

bool Readback::read_subject(const ProcStat& subject, ReadbackResult& observed) const {
    observed.pid = subject.pid;
    if (plan_.readback.status && plan_.own_view) {
        const auto shown = read_proc(subject.pid, "root/sys/devices/system/cpu/online");
        if (shown) observed.cpus_shown = parse_cpulist(*shown);
    }
    if (plan_.readback.smaps) {
        if (const auto rollup = read_proc(subject.pid, "smaps_rollup")) {
            if (const auto huge = number_after(*rollup, "AnonHugePages"))
                observed.anon_huge_bytes = *huge * 1024;
            read_pages(*rollup, subject.pid, observed);
        }
    }
    if (plan_.readback.numa_maps) {
        const auto text = read_proc(subject.pid, "numa_maps");
        // Empty after the memory is freed: keep the earlier reading.
        if (text && text->empty()) return false;
        if (text) read_numa(*text, observed);
    }
    return true;
}

void Readback::read_pages(const std::string& rollup, pid_t subject, ReadbackResult& observed) const {
    const auto bytes_of = [](std::string_view text, const char* key) {
        return number_after(text, key).value_or(0) * 1024;
    };
    const std::int64_t huge = bytes_of(rollup, "AnonHugePages") + bytes_of(rollup, "ShmemPmdMapped") +
                              bytes_of(rollup, "FilePmdMapped");
    observed.page_bytes[::sysconf(_SC_PAGESIZE)] = bytes_of(rollup, "Rss") - huge;
    if (huge > 0) {
        static const auto pmd = read_number("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size");
        if (pmd) observed.page_bytes[*pmd] = huge;
    }
    // Rss excludes hugetlb pages, which have various sizes; only smaps lists them by size.
    if (bytes_of(rollup, "Private_Hugetlb") + bytes_of(rollup, "Shared_Hugetlb") == 0) return;
    const auto smaps = read_proc(subject, "smaps");
    std::int64_t page = 0;
    each_line(smaps ? std::string_view{*smaps} : std::string_view{}, [&](std::string_view line) {
        if (const auto size = number_after(line, "KernelPageSize")) page = *size * 1024;
        for (const char* key : {"Private_Hugetlb", "Shared_Hugetlb"}) {
            if (const auto held = bytes_of(line, key); held > 0) observed.page_bytes[page] += held;
        }
    });
}

void Readback::read_numa(const std::string& text, ReadbackResult& observed) const {
    static const std::int64_t base_page = ::sysconf(_SC_PAGESIZE);
    std::map<std::string, std::int64_t> by_policy;
    each_line(text, [&](std::string_view line) {
        int word_number = 0;
        std::string_view policy;
        std::int64_t page_bytes = base_page;
        bool anonymous = false;
        std::vector<std::pair<int, std::int64_t>> pages;
        each_word(line, [&](std::string_view word) {
            // "prefer (many):0-1" and "weighted interleave:0-1" are two words (mpol_to_str).
            const bool goes_on = word_number == 2 && (policy == "prefer" || policy == "weighted");
            if (++word_number == 2 || (goes_on && word.find(':') != std::string_view::npos))
                policy = goes_on ? line.substr(static_cast<std::size_t>(policy.data() - line.data()),
                                               policy.size() + 1 + word.size())
                                 : word;
            const auto equals = word.find('=');
            if (word.starts_with("kernelpagesize_kB="))
                page_bytes = number_in(word.substr(equals + 1)) * 1024;
            else if (word.starts_with("anon="))
                anonymous = true;
            else if (word.size() > 2 && word[0] == 'N' && equals != std::string_view::npos) {
                pages.emplace_back(static_cast<int>(number_in(word.substr(1))),
                                   number_in(word.substr(equals + 1)));
            }
        });
        for (const auto& [node, count] : pages) {
            observed.node_pages[node] += count * page_bytes / base_page;
            if (anonymous) by_policy[std::string(policy)] += count * page_bytes;
        }
    });
    const auto main_policy = std::max_element(
        by_policy.begin(), by_policy.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    if (main_policy != by_policy.end()) observed.mempolicy = main_policy->first;
}

std::set<std::string> Readback::wanted_maps(const std::string& text) const {
    std::set<std::string> found;
    each_line(text, [&](std::string_view line) {
        const auto path = mapped_path(line);
        if (path.empty()) return;
        const auto& names = plan_.map_names;
        const bool wanted = !names || std::any_of(names->begin(), names->end(), [&](const auto& name) {
            return path.find(name) != std::string_view::npos;
        });
        if (wanted) found.emplace(path);
    });
    return found;
}

const std::optional<ReadbackResult>& Readback::result() {
    if (!result_) return result_;
    if (const auto stat = proc_stat(program_)) workers_.ended(*stat);
    auto workers = workers_.report();
    if (workers.size() > 1) result_->workers = std::move(workers);
    return result_;
}

void Readback::count_threads(const std::vector<ProcStat>& tree, Nanos now) {
    int threads = 0;
    for (const auto& stat : tree) threads += stat.threads;
    if (threads < threads_peak_) return;
    threads_peak_ = threads;
    if (!plan_.readback.threads) return;
    std::map<std::string, int> by_list;
    std::size_t left = readable_threads(now - start_, min_threads, max_threads);
    for (const auto& stat : tree) {
        for (const pid_t thread : threads_of(stat.pid, left)) {
            const auto path = proc_path(stat.pid, "task/") + std::to_string(thread) + "/status";
            const auto status = read_file(AT_FDCWD, path.c_str());
            const auto list = status ? line_after(*status, "Cpus_allowed_list") : std::nullopt;
            if (list) ++by_list[std::string(list->substr(0, list->find('\n')))], --left;
        }
    }
    if (!by_list.empty()) thread_cpus_ = std::move(by_list);
}

} // namespace assay
