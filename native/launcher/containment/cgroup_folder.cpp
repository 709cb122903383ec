#include "launcher/containment/cgroup_folder.hpp"

#include "common/dir.hpp"
#include "common/files.hpp"
#include "common/groups.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace assay {

namespace {

Fd open_folder(int at, const char* path) {
    return Fd{::openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)};
}

/// Open a file of an open folder. If permission is denied, restore the permissions of both first.
Fd open_in(int folder, const char* file, int flags) {
    Fd fd{::openat(folder, file, flags | O_CLOEXEC)};
    if (!fd && errno == EACCES) {
        ::fchmod(folder, 0755);
        ::fchmodat(folder, file, 0644, 0);
        fd = Fd{::openat(folder, file, flags | O_CLOEXEC)};
    }
    return fd;
}

/// Open a folder in an open folder. If permission is denied, restore the permissions first.
Fd open_below(int folder, const char* name) {
    Fd fd = open_folder(folder, name);
    if (!fd && errno == EACCES && ::fchmodat(folder, name, 0755, 0) == 0) fd = open_folder(folder, name);
    return fd;
}

std::vector<std::string> subfolders(int folder) {
    std::vector<std::string> found;
    struct stat status{};
    // In cgroupfs the number of links is the number of subfolders plus two.
    if (::fstat(folder, &status) != 0 || status.st_nlink <= 2) return found;
    Fd fd = open_folder(folder, ".");
    if (!fd && errno == EACCES && ::fchmod(folder, 0755) == 0) fd = open_folder(folder, ".");
    if (!fd) return found;
    const Dir dir{::fdopendir(fd.release())};
    while (const dirent* entry = dir ? ::readdir(dir.get()) : nullptr) {
        const std::string_view name = entry->d_name;
        if (entry->d_type == DT_DIR && name != "." && name != "..") found.emplace_back(name);
    }
    return found;
}

/// Visit all folders below one: `enter(folder)` before its subfolders, `leave(parent, name)` after them. A
/// program may nest folders to any depth, so few are open at a time.
template <typename Enter, typename Leave>
void walk_below(int top, Enter enter, Leave leave) {
    struct Level {
        std::string name;
        std::vector<std::string> remaining;
    };
    std::vector<Level> levels{{"", subfolders(top)}};
    if (levels.back().remaining.empty()) return;
    Fd at = open_folder(top, ".");
    while (at) {
        auto& remaining = levels.back().remaining;
        if (remaining.empty()) {
            const std::string name = std::move(levels.back().name);
            levels.pop_back();
            if (levels.empty()) return;
            at = open_folder(at.get(), "..");
            if (at) leave(at.get(), name.c_str());
            continue;
        }
        std::string name = std::move(remaining.back());
        remaining.pop_back();
        if (Fd below = open_below(at.get(), name.c_str())) {
            at = std::move(below);
            enter(at.get());
            levels.push_back({std::move(name), subfolders(at.get())});
        }
    }
}

void add_processes(int folder, std::vector<pid_t>& found) {
    const Fd fd = open_in(folder, "cgroup.procs", O_RDONLY);
    const auto text = fd ? read_to_end(fd.get(), 1U << 24) : std::nullopt;
    if (text) add_pids(*text, found);
}

} // namespace

std::optional<CgroupFolder> CgroupFolder::create(int root, std::string path) {
    if (::mkdirat(root, path.c_str(), 0755) != 0) return std::nullopt;
    Fd folder = open_folder(root, path.c_str());
    if (!folder) {
        const int error = errno;
        ::unlinkat(root, path.c_str(), AT_REMOVEDIR);
        errno = error;
        return std::nullopt;
    }
    if (::flock(folder.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        errno = EEXIST; // another launcher locked it before we could
        return std::nullopt;
    }
    return CgroupFolder{root, std::move(path), std::move(folder)};
}

std::optional<CgroupFolder> CgroupFolder::reopen(int root, std::string path) {
    Fd folder = open_folder(root, path.c_str());
    if (!folder) return std::nullopt;
    return CgroupFolder{root, std::move(path), std::move(folder)};
}

std::optional<CgroupFolder> CgroupFolder::adopt_abandoned(int root, std::string path) {
    Fd folder = open_folder(root, path.c_str());
    struct stat status{};
    if (!folder || ::fstat(folder.get(), &status) != 0 || status.st_uid != ::geteuid()) return std::nullopt;
    if (::flock(folder.get(), LOCK_EX | LOCK_NB) != 0) return std::nullopt;
    return CgroupFolder{root, std::move(path), std::move(folder)};
}

Fd CgroupFolder::open(const char* file, int flags) const {
    return open_in(fd(), file, flags);
}

bool CgroupFolder::has(const char* file) const {
    return ::faccessat(fd(), file, F_OK, 0) == 0;
}

std::optional<std::string> CgroupFolder::read(const char* file) const {
    const Fd open_file = open(file, O_RDONLY);
    return open_file ? read_to_end(open_file.get(), 1U << 20) : std::nullopt;
}

std::optional<std::int64_t> CgroupFolder::read_number(const char* file) const {
    const auto text = read(file);
    return text ? number_after("=" + *text, "") : std::nullopt;
}

int CgroupFolder::write(const char* file, std::string_view text) const {
    const Fd open_file = open(file, O_WRONLY);
    return open_file ? write_all(open_file.get(), text) : errno;
}

std::vector<pid_t> CgroupFolder::processes() const {
    std::vector<pid_t> found;
    add_processes(fd(), found);
    walk_below(fd(), [&](int folder) { add_processes(folder, found); }, [](int, const char*) {});
    return found;
}

bool CgroupFolder::remove() {
    if (::unlinkat(root_, path_.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return true;
    walk_below(
        fd(), [](int) {}, [](int parent, const char* name) { ::unlinkat(parent, name, AT_REMOVEDIR); });
    return ::unlinkat(root_, path_.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT;
}

} // namespace assay
