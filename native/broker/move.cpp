#include "broker/move.hpp"

#include "common/cpulist.hpp"
#include "common/dir.hpp"
#include "common/files.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

namespace assay::broker {

namespace {

/// Linux 6.1 lets a process that enters the v2 root group run on every CPU, including those of partitions.
/// Setting its affinity again restricts it to the remaining CPUs.
void reset_affinity(const std::string& folder, pid_t pid) {
    if (::access((folder + "/cgroup.type").c_str(), F_OK) == 0) return; // missing in the root group only
    const auto text = read_file(AT_FDCWD, (folder + "/cpuset.cpus.effective").c_str());
    const auto left = text ? parse_cpulist(text->substr(0, text->find('\n'))) : std::nullopt;
    if (!left) return;
    cpu_set_t allowed, everything, now;
    CPU_ZERO(&allowed);
    for (const int cpu : *left) {
        if (cpu < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(cpu), &allowed);
    }
    std::memset(&everything, 0xff, sizeof everything);
    const Dir threads{::opendir(("/proc/" + std::to_string(pid) + "/task").c_str())};
    if (!threads) return;
    while (const dirent* entry = ::readdir(threads.get())) {
        const std::string_view name = entry->d_name;
        pid_t thread = 0;
        std::from_chars(name.data(), name.data() + name.size(), thread);
        if (thread <= 0 || ::sched_getaffinity(thread, sizeof now, &now) != 0) continue;
        CPU_OR(&now, &now, &allowed);
        if (!CPU_EQUAL(&now, &allowed)) ::sched_setaffinity(thread, sizeof everything, &everything);
    }
}

/// Move back a process that was moved by mistake, because it has the reused number of another process.
void move_back(const Hierarchy& hierarchy, const std::string& folder, pid_t pid) {
    const Process process{pid};
    const auto parent = process.parent();
    if (!parent || process.group(hierarchy) != folder) return;
    const std::string parent_group = Process{*parent}.group(hierarchy);
    if (parent_group == folder) return; // it was created in this group
    const auto number = std::to_string(pid);
    if (parent_group.empty() || write_file(AT_FDCWD, (parent_group + "/cgroup.procs").c_str(), number) != 0)
        static_cast<void>(write_file(AT_FDCWD, (hierarchy.mount + "/cgroup.procs").c_str(), number));
}

} // namespace

int move_to(const Hierarchy& hierarchy, const std::string& folder, const Process& process) {
    if (!process.is_alive()) return ESRCH;
    const auto number = std::to_string(process.pid());
    const int error = write_file(AT_FDCWD, (folder + "/cgroup.procs").c_str(), number);
    if (error != 0) return error;
    if (!process.is_alive()) {
        move_back(hierarchy, folder, process.pid());
        return ESRCH;
    }
    reset_affinity(folder, process.pid());
    return 0;
}

int set_affinity(const Process& process, const std::vector<int>& cpus) {
    alignas(cpu_set_t) unsigned char mask[1024] = {}; // 8192 CPUs, the maximum of the kernel
    for (const int cpu : cpus) {
        if (cpu < 0 || cpu >= static_cast<int>(8 * sizeof mask)) return EINVAL;
        mask[cpu / 8] = static_cast<unsigned char>(mask[cpu / 8] | 1U << (cpu % 8));
    }
    const auto* const set = reinterpret_cast<const cpu_set_t*>(mask);
    if (::sched_setaffinity(process.pid(), sizeof mask, set) != 0) return errno;
    if (process.is_alive()) return 0;
    // The number was reused: give that process all CPUs of its group.
    std::memset(mask, 0xff, sizeof mask);
    static_cast<void>(::sched_setaffinity(process.pid(), sizeof mask, set));
    return ESRCH;
}

} // namespace assay::broker
