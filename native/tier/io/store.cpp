#include "tier/io/store.hpp"

#include "tier/base/file_size.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <utility>

namespace assay::tier {

namespace {

constexpr std::size_t max_free_ranges = 1 << 17; // Gaps between regions.

[[noreturn]] void refuse(const std::string& path, const std::string& why, const std::string& next) {
    throw std::runtime_error("the path " + path + " " + why + ": " + next);
}

/// Return the rotation of the paths in a row: a pseudo-random number (the mixer of SplitMix64).
std::uint64_t rotation_of(std::uint64_t row) {
    row = (row ^ row >> 30U) * 0xbf58476d1ce4e5b9U;
    row = (row ^ row >> 27U) * 0x94d049bb133111ebU;
    return (row ^ row >> 31U) >> 32U;
}

/// Open an unnamed file, so that no file remains after the program has ended.
Fd open_unnamed(const std::string& path) {
    struct statfs system = {};
    if (::statfs(path.c_str(), &system) != 0)
        refuse(path, std::string("cannot be used (") + std::strerror(errno) + ")",
               "use an existing directory");
    if (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC)
        refuse(path, "is on tmpfs, that is, in memory", "use a directory on a disk");
    Fd fd(::open(path.c_str(), O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC, 0600));
    if (fd) return fd;
    switch (errno) {
    case EROFS:
        refuse(path, "is read-only", "use a directory on a writable file system");
    case EACCES:
    case EPERM:
        refuse(path, "is not writable for this user", "use another directory, or change its permissions");
    case EINVAL:
    case EOPNOTSUPP:
    case EISDIR:
        refuse(path, "is on a file system without O_DIRECT or O_TMPFILE", "use ext4, XFS, btrfs or F2FS");
    default:
        refuse(path, std::string("cannot hold a file (") + std::strerror(errno) + ")",
               "use another directory");
    }
}

/// Lock a directory for a limited time: another program may hold the lock for its own purposes.
void lock(int directory_fd) {
    constexpr int max_attempts = 200;
    for (int i = 0; i < max_attempts && ::flock(directory_fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
         ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

} // namespace

Store::Store(const std::vector<std::string>& paths, std::size_t chunk, std::size_t max,
             std::optional<std::uint64_t> keep_free, Clock::duration patience)
    : paths_(paths), chunk_(chunk), keep_free_(keep_free), quiet_period_(patience / 4),
      retry_deadline_(Clock::now() + patience), free_(max_free_ranges) {
    for (const std::string& path : paths) {
        const int file = files_.emplace_back(open_unnamed(path)).get();
        struct stat about{};
        const dev_t device = ::fstat(file, &about) == 0 ? about.st_dev : 0;
        const auto same = std::ranges::find(file_systems_, device, &FileSystem::device);
        if (same != file_systems_.end())
            ++same->files;
        else
            file_systems_.push_back(
                {device, Fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)), file, 1});
    }
    if (files_.empty()) throw std::runtime_error("no path is given for the backing store: add one (--path)");
    std::ranges::sort(file_systems_, {}, &FileSystem::device);
    free_.release(0, max);
}

int Store::reserve(std::size_t chunks, std::size_t& first) {
    if (!free_.take(chunks, first)) return ENOMEM;
    const std::size_t wanted = first + chunks;
    const off_t from = end_of(allocated_), to = end_of(wanted);
    if (const int error = to > from ? grow(from, to) : 0; error != 0) {
        free_.release(first, chunks);
        return error;
    }
    allocated_ = wanted > allocated_ ? wanted : allocated_;
    return 0;
}

int Store::grow(off_t from, off_t to) const {
    // Two processes that compete for the same space must not retry in lockstep.
    const auto pause = std::chrono::milliseconds(5 + ::getpid() % 16);
    std::uint64_t max = free_bytes();
    Clock::time_point last_released = Clock::now();
    for (;;) {
        const int error = try_to_grow(from, to);
        const Clock::time_point now = Clock::now();
        if (const std::uint64_t free = free_bytes(); free > max) {
            max = free;
            last_released = now;
        }
        const bool may_retry = error == ENOSPC || error == EDQUOT;
        if (!may_retry || now >= retry_deadline_ || now - last_released >= quiet_period_) return error;
        std::this_thread::sleep_for(pause);
    }
}

int Store::try_to_grow(off_t from, off_t to) const {
    if (!is_size_allowed(static_cast<std::size_t>(to))) return errno;
    const auto more = static_cast<std::uint64_t>(to - from);
    if (const int error = check_reserve(more); error != 0) return error;
    // Serialise the processes: otherwise two of them would claim the same free space.
    for (const FileSystem& one : file_systems_) lock(one.directory_fd.get());
    int error = check_reserve(more);
    for (std::size_t i = 0; error == 0 && i < files_.size(); ++i) {
        do error = ::fallocate(files_[i].get(), 0, from, to - from) == 0 ? 0 : errno;
        while (error == EINTR);
        // Return the part that was allocated, so that the file system does not remain full.
        if (error != 0) give_back(i + 1, from);
    }
    // A program that ignores the lock may have taken the space.
    if (error == 0) {
        error = check_reserve(0);
        if (error != 0) give_back(files_.size(), from);
    }
    for (const FileSystem& one : file_systems_) ::flock(one.directory_fd.get(), LOCK_UN);
    return error;
}

void Store::give_back(std::size_t files, off_t to) const {
    for (std::size_t i = 0; i < files; ++i)
        if (::ftruncate(files_[i].get(), to) != 0) return;
}

int Store::check_reserve(std::uint64_t bytes) const {
    constexpr std::uint64_t max_kept = std::uint64_t{1} << 30U, divisor = 20;
    for (const FileSystem& one : file_systems_) {
        struct statvfs found{};
        if (::fstatvfs(one.file, &found) != 0) return errno;
        const std::uint64_t unit = found.f_frsize, free = found.f_bavail * unit;
        const std::uint64_t keep = keep_free_.value_or(std::min(found.f_blocks * unit / divisor, max_kept));
        if (free < keep || (free - keep) / one.files < bytes) return ENOSPC;
    }
    return 0;
}

std::uint64_t Store::free_bytes() const {
    std::uint64_t all = 0;
    for (const FileSystem& one : file_systems_) {
        struct statvfs found{};
        if (::fstatvfs(one.file, &found) == 0) all += found.f_bavail * found.f_frsize;
    }
    return all;
}

std::size_t Store::path_number(std::uint64_t position) const {
    const std::uint64_t chunk = position / chunk_;
    return (chunk + rotation_of(chunk / files_.size())) % files_.size();
}

off_t Store::end_of(std::size_t chunks) const {
    return static_cast<off_t>((chunks + files_.size() - 1) / files_.size() * chunk_);
}

} // namespace assay::tier
