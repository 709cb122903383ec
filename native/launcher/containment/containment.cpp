#include "launcher/containment/containment.hpp"

#include "common/files.hpp"
#include "launcher/containment/cgroup.hpp"
#include "launcher/process/process_tree.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>

namespace assay {

std::vector<pid_t> UngroupedTree::processes() {
    return descendants(::getpid());
}

bool UngroupedTree::empty() {
    siginfo_t info{};
    return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 && errno == ECHILD;
}

void UngroupedTree::kill() {
    // Parents first: when a parent has ended, the supervisor adopts its children, and the next walk finds
    // them.
    for (const pid_t pid : descendants(::getpid())) {
        if (const auto seen = proc_stat(pid)) signal_seen(*seen, SIGKILL);
    }
}

void signal_seen(const ProcStat& seen, int signal) {
    signal_checked(seen.pid, signal, [&](pid_t now) {
        const auto stat = proc_stat(now);
        return stat && stat->start_ticks == seen.start_ticks;
    });
}

std::optional<TreeMemory> Containment::memory_of(const std::vector<pid_t>& pids) {
    const auto resident = resident_of(pids);
    if (!resident) return std::nullopt;
    TreeMemory memory;
    memory.anonymous = resident->anonymous;
    memory.files = resident->largest_files;
    if (huge_pages_in_use()) memory.huge = huge_pages_.held_by(pids);
    return memory;
}

void Containment::add_huge_pages(std::optional<TreeMemory>& memory) {
    if (memory && !memory->huge_charged && huge_pages_in_use())
        memory->huge = huge_pages_.held_by(processes());
}

std::optional<TreeMemory> UngroupedTree::memory() {
    return memory_of(processes());
}

std::optional<Nanos> UngroupedTree::cpu_used() {
    std::int64_t ticks = 0;
    for (const pid_t pid : processes()) {
        if (const auto stat = proc_stat(pid)) ticks += stat->own_ticks + stat->waited_ticks;
    }
    rusage orphans{}; // CPU time of children that the supervisor has waited for
    ::getrusage(RUSAGE_CHILDREN, &orphans);
    return ticks_to_ns(ticks) + to_nanos(orphans.ru_utime) + to_nanos(orphans.ru_stime);
}

TreeUsage UngroupedTree::usage() {
    TreeUsage usage;
    usage.absent.emplace_back("peak_bytes", "no control group measured the memory: " + why_);
    return usage;
}

ContainmentChoice choose_containment(const Plan& plan, pid_t launcher) {
    if (plan.containment == ContainmentMode::none) {
        return {std::make_unique<UngroupedTree>("the plan sets containment to none"), {}};
    }
    std::string why;
    if (auto leaf = make_leaf(plan, launcher, why)) return {std::move(leaf), {}};
    if (plan.containment == ContainmentMode::cgroup) return {nullptr, why};
    return {std::make_unique<UngroupedTree>(why), {}};
}

bool reap_children(pid_t spared, pid_t other) {
    for (;;) {
        siginfo_t info{};
        if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0) return errno == EINTR;
        if (info.si_pid == 0 || info.si_pid == spared || info.si_pid == other) return true;
        ::waitpid(info.si_pid, nullptr, WNOHANG);
    }
}

TreeCount count_tree(Containment& containment) {
    // In this order: a process that has run is in the control group, unless it left, and the group is listed
    // later.
    auto below_us = UngroupedTree{""}.processes();
    std::erase_if(below_us, [](pid_t pid) { return !has_run(pid); });
    auto contained = containment.processes();
    std::sort(contained.begin(), contained.end());
    const auto outside = std::count_if(below_us.begin(), below_us.end(), [&](pid_t pid) {
        if (std::binary_search(contained.begin(), contained.end(), pid)) return false;
        const auto stat = proc_stat(pid);
        return stat && stat->alive() && !stat->exiting();
    });
    return {contained.size() + static_cast<std::size_t>(outside), static_cast<std::size_t>(outside)};
}

std::vector<pid_t> living_processes(Containment& containment) {
    auto pids = containment.processes();
    for (const pid_t pid : UngroupedTree{""}.processes()) pids.push_back(pid);
    std::sort(pids.begin(), pids.end());
    pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
    std::erase_if(pids, [](pid_t pid) {
        const auto stat = proc_stat(pid);
        return !stat || !stat->alive();
    });
    return pids;
}

std::vector<std::string> remaining_names(Containment& containment) {
    constexpr std::size_t max_names = 16;
    std::vector<std::string> names;
    for (const pid_t pid : living_processes(containment)) {
        if (names.size() == max_names) break;
        const auto stat = proc_stat(pid);
        if (!stat || stat->exiting()) continue;
        auto name = read_file(AT_FDCWD, ("/proc/" + std::to_string(pid) + "/comm").c_str());
        if (!name) continue;
        while (!name->empty() && name->back() == '\n') name->pop_back();
        names.push_back(*std::move(name));
    }
    return names;
}

std::size_t kill_tree(Containment& containment) {
    containment.kill();
    const std::size_t outside = count_tree(containment).outside;
    UngroupedTree below_us{""};
    below_us.kill();
    for (const pid_t pid : below_us.processes()) containment.thaw(pid);
    return outside;
}

std::size_t end_tree(Containment& containment, Nanos timeout) {
    const Nanos deadline = now_ns() + timeout;
    Nanos pause = 100'000;
    for (;;) {
        const bool children = reap_children(0);
        if (!children && containment.empty()) return 0;
        kill_tree(containment);
        if (now_ns() > deadline) return std::max<std::size_t>(count_tree(containment).all, 1);
        const timespec nap = to_timespec(pause);
        ::nanosleep(&nap, nullptr);
        pause = std::min<Nanos>(pause * 2, 20 * nanos_per_milli);
    }
}

} // namespace assay
