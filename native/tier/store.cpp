#include "tier/store.hpp"

#include "tier/file_size.hpp"
#include "tier/lifted.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <utility>

namespace assay::tier {

namespace {

constexpr std::size_t most_pieces = 1 << 17; // Regions, and the gaps between them.

[[noreturn]] void refuse(const std::string& path, const std::string& why, const std::string& next) {
    throw std::runtime_error("the path " + path + " " + why + ": " + next);
}

/// By how many paths a row is turned: any number, another for each row (the mixer of SplitMix64).
std::uint64_t turn_of(std::uint64_t row) {
    row = (row ^ row >> 30U) * 0xbf58476d1ce4e5b9U;
    row = (row ^ row >> 27U) * 0x94d049bb133111ebU;
    return (row ^ row >> 31U) >> 32U;
}

/// A file without a name: nothing is left behind, however the program ends.
Fd open_in(const std::string& path) {
    struct statfs system = {};
    if (::statfs(path.c_str(), &system) != 0)
        refuse(path, std::string("cannot be used (") + std::strerror(errno) + ")",
               "name a directory that exists");
    if (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC)
        refuse(path, "is on tmpfs, which is memory itself", "name a directory on a disk");
    Fd fd(::open(path.c_str(), O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC, 0600));
    if (fd) return lifted(std::move(fd));
    switch (errno) {
    case EROFS:
        refuse(path, "can only be read", "name a directory on a file system that is mounted for writing");
    case EACCES:
    case EPERM:
        refuse(path, "may not be written by this user", "name a directory of your own, or change its rights");
    case EINVAL:
    case EOPNOTSUPP:
    case EISDIR:
        refuse(path, "is on a file system without O_DIRECT or O_TMPFILE", "use ext4, XFS, btrfs or F2FS");
    default:
        refuse(path, std::string("cannot hold a file (") + std::strerror(errno) + ")",
               "name another directory");
    }
}

} // namespace

Store::Store(const std::vector<std::string>& paths, std::size_t chunk, std::size_t most,
             Clock::duration patience)
    : paths_(paths), chunk_(chunk), settled_(Clock::now() + patience), free_(most_pieces) {
    for (const std::string& path : paths) files_.push_back(open_in(path));
    if (files_.empty())
        throw std::runtime_error("no path is given for what does not fit into memory: name one (--path)");
    free_.give(0, most);
}

int Store::reserve(std::size_t chunks, std::size_t& first) {
    if (!free_.take(chunks, first)) return ENOMEM;
    const std::size_t wanted = first + chunks;
    const off_t from = end_of(allocated_), to = end_of(wanted);
    for (std::size_t i = 0; to > from && i < files_.size(); ++i) {
        const int error = allocate(files_[i].get(), from, to);
        if (error == 0) continue;
        // What it did get is given back: the file system is not to stay full for nothing.
        for (std::size_t j = 0; j < i; ++j)
            if (::ftruncate(files_[j].get(), from) != 0) break;
        free_.give(first, chunks);
        return error;
    }
    allocated_ = wanted > allocated_ ? wanted : allocated_;
    return 0;
}

int Store::allocate(int file, off_t from, off_t to) const {
    // Two that want the same room are not to try at the same moments for ever.
    const auto pause = std::chrono::milliseconds(5 + ::getpid() % 16);
    if (!may_be(static_cast<std::size_t>(to))) return errno;
    while (::fallocate(file, 0, from, to - from) != 0) {
        const int error = errno;
        // What it did get another may have meanwhile: two with a half each would both go without.
        if (::ftruncate(file, from) != 0) return error;
        if (error == EINTR) continue;
        if ((error != ENOSPC && error != EDQUOT) || Clock::now() >= settled_) return error;
        std::this_thread::sleep_for(pause);
    }
    return 0;
}

std::size_t Store::path_number(std::uint64_t position) const {
    const std::uint64_t chunk = position / chunk_;
    return (chunk + turn_of(chunk / files_.size())) % files_.size();
}

off_t Store::end_of(std::size_t chunks) const {
    return static_cast<off_t>((chunks + files_.size() - 1) / files_.size() * chunk_);
}

} // namespace assay::tier
