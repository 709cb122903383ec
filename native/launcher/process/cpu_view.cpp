#include "launcher/process/cpu_view.hpp"

#include "common/cpulist.hpp"
#include "common/files.hpp"
#include "common/raw.hpp"
#include "launcher/process/caller.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

namespace assay {

namespace {

/// Hidden by a tmpfs while the files are created; it exists wherever sysfs is mounted.
constexpr const char* staging_folder = "/sys/kernel";

const char* const cpu_folder = "/sys/devices/system/cpu/";
const char* const node_folder = "/sys/devices/system/node/";

bool contains(const std::vector<int>& sorted, int number) {
    return std::binary_search(sorted.begin(), sorted.end(), number);
}

std::string list_line(const std::vector<int>& numbers) {
    return format_cpulist(numbers) + '\n';
}

/// Remove the blocks of other CPUs from the text of /proc/cpuinfo; keep blocks without a CPU number.
std::string processors_of(std::string_view cpuinfo, const std::vector<int>& cpus) {
    std::string kept;
    while (!cpuinfo.empty()) {
        const auto end = cpuinfo.find("\n\n");
        const auto block = cpuinfo.substr(0, end == std::string_view::npos ? end : end + 2);
        const auto number = number_after(block, "processor");
        if (!number || contains(cpus, static_cast<int>(*number))) kept += block;
        cpuinfo.remove_prefix(block.size());
    }
    return kept;
}

/// Return the nodes that contain some of the CPUs, and those with memory alone.
std::vector<int> nodes_of(const std::vector<int>& online, const std::vector<int>& cpus) {
    std::vector<int> kept;
    for (const int node : online) {
        const auto path = node_folder + ("node" + std::to_string(node)) + "/cpulist";
        const auto text = read_file(AT_FDCWD, path.c_str());
        const auto own = text ? parse_cpulist(*text) : std::nullopt;
        const bool ours = !own || own->empty() ||
                          std::any_of(own->begin(), own->end(), [&](int cpu) { return contains(cpus, cpu); });
        if (ours) kept.push_back(node);
    }
    return kept;
}

/// Write a file with system calls only. Return 0 or -errno.
long write_whole(const char* path, int flags, std::string_view text) {
    constexpr long everybody_reads = 0444;
    const long file =
        raw::call(SYS_openat, AT_FDCWD, raw::as_long(path), O_WRONLY | O_CLOEXEC | flags, everybody_reads);
    if (raw::failed(file)) return file;
    // Regardless of the umask: the program of another user must be able to read a file created by root.
    if ((flags & O_CREAT) != 0) raw::call(SYS_fchmod, file, everybody_reads);
    long written = 0;
    while (!text.empty() && !raw::failed(written)) {
        written = raw::call(SYS_write, file, raw::as_long(text.data()), static_cast<long>(text.size()));
        if (!raw::failed(written)) text.remove_prefix(static_cast<std::size_t>(written));
    }
    raw::call(SYS_close, file);
    return raw::failed(written) ? written : 0;
}

long mount(const char* source, const char* target, const char* type, unsigned long flags) {
    return raw::call(SYS_mount, raw::as_long(source), raw::as_long(target), raw::as_long(type),
                     static_cast<long>(flags), 0);
}

/// Map the own user and group. A process without privileges may map only itself, and only after it gives up
/// setgroups(2).
long map_ids(const CpuView& view) {
    const long denied = write_whole("/proc/self/setgroups", 0, "deny");
    if (raw::failed(denied) && denied != -ENOENT) return denied; // Linux 3.19
    if (const long error = write_whole("/proc/self/uid_map", 0, view.uid_map); raw::failed(error))
        return error;
    return write_whole("/proc/self/gid_map", 0, view.gid_map);
}

long bind_over(const FileOverlay& file, const char* staging_path) {
    const long made = write_whole(staging_path, O_CREAT | O_EXCL, file.text);
    return raw::failed(made) ? made : mount(staging_path, file.path.c_str(), nullptr, MS_BIND);
}

std::string identity_map(unsigned id) {
    return std::to_string(id) + ' ' + std::to_string(id) + " 1\n";
}

} // namespace

std::vector<FileOverlay> cpu_view_files(const std::vector<int>& cpus) {
    static const auto cpuinfo = read_file(AT_FDCWD, "/proc/cpuinfo");
    std::vector<FileOverlay> files;
    if (cpuinfo) files.push_back({"/proc/cpuinfo", processors_of(*cpuinfo, cpus)});
    const auto add_list = [&](std::string path, const std::vector<int>& numbers) {
        if (::access(path.c_str(), F_OK) == 0) files.push_back({std::move(path), list_line(numbers)});
    };
    for (const char* name : {"online", "present", "possible"}) add_list(std::string(cpu_folder) + name, cpus);
    add_list(std::string(cpu_folder) + "offline", {});
    const auto online = std::string(node_folder) + "online";
    const auto text = read_file(AT_FDCWD, online.c_str());
    if (const auto nodes = text ? parse_cpulist(*text) : std::nullopt)
        add_list(online, nodes_of(*nodes, cpus));
    return files;
}

CpuView prepare_view(const std::vector<int>& cpus) {
    CpuView view;
    view.files = cpu_view_files(cpus);
    for (std::size_t i = 0; i < view.files.size(); ++i)
        view.staging_paths.push_back(std::string(staging_folder) + '/' + std::to_string(i));
    view.needs_user_namespace = !has_cap_sys_admin();
    view.uid_map = identity_map(::geteuid());
    view.gid_map = identity_map(::getegid());
    return view;
}

long enter_view(const CpuView& view) {
    const long apart =
        raw::call(SYS_unshare, view.needs_user_namespace ? CLONE_NEWNS | CLONE_NEWUSER : CLONE_NEWNS);
    if (raw::failed(apart)) return apart;
    if (view.needs_user_namespace) {
        if (const long error = map_ids(view); raw::failed(error)) return error;
    }
    // Later mounts on the host become visible here; mounts made here stay private.
    if (const long error = mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE); raw::failed(error)) return error;
    const unsigned long harmless = MS_NOSUID | MS_NODEV | MS_NOEXEC;
    if (const long error = mount("assay", staging_folder, "tmpfs", harmless); raw::failed(error))
        return error;
    for (std::size_t i = 0; i < view.files.size(); ++i) {
        const long error = bind_over(view.files[i], view.staging_paths[i].c_str());
        if (raw::failed(error)) return error;
    }
    return raw::call(SYS_umount2, raw::as_long(staging_folder), MNT_DETACH);
}

} // namespace assay
