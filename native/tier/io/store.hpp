#pragma once

#include "common/fd.hpp"
#include "tier/base/range_allocator.hpp"

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay::tier {

/// Backing store in unnamed files on one or several paths.
///
/// Chunks are striped: a row has as many chunks as there are paths, one on each, so that sequential accesses
/// use all devices. The order within rows is pseudo-random. Otherwise one path would serve all accesses to
/// every second chunk or to a column of a matrix. The files disappear with the last process that has them
/// open.
class Store {
  public:
    using Clock = std::chrono::steady_clock;

    /// \param paths directories; one on each device adds up their bandwidths.
    /// \param max maximum number of chunks.
    /// \param keep_free reserve of each file system, in bytes (default: a twentieth of it, at most 1 GiB).
    /// \param patience time during which missing space may still be released. Waiting ends if none is
    ///     released for a quarter of it. The kernel holds the files of an ended program until its transfers
    ///     are completed (io_uring, Linux 6.18: 20 to 100 ms with a disk of 200 MB/s).
    /// \throws std::runtime_error with path and next step: not a directory, no write permission, tmpfs, no
    ///     O_DIRECT.
    Store(const std::vector<std::string>& paths, std::size_t chunk, std::size_t max,
          std::optional<std::uint64_t> keep_free = {}, Clock::duration patience = std::chrono::seconds(1));

    /// Allocate disk blocks for consecutive chunks now, so that no later fault meets a full device. Free
    /// space is checked first, so that an excessive request never takes space from other programs.
    ///
    /// \param first receives the number of the first chunk.
    /// \returns 0 or an error number without any allocation: ENOSPC, EDQUOT, EFBIG (ulimit -f), ENOMEM.
    [[nodiscard]] int reserve(std::size_t chunks, std::size_t& first);
    void release(std::size_t first, std::size_t chunks) { free_.release(first, chunks); }

    [[nodiscard]] const std::vector<Fd>& files() const { return files_; }
    /// Return file and offset of a byte. Bytes of one chunk are contiguous.
    [[nodiscard]] int file_of(std::uint64_t position) const { return files_[path_number(position)].get(); }
    [[nodiscard]] std::uint64_t offset_of(std::uint64_t position) const {
        return position / chunk_ / files_.size() * chunk_ + position % chunk_;
    }
    [[nodiscard]] const std::string& path_of(std::uint64_t position) const {
        return paths_[path_number(position)];
    }

    /// Return the index of the path that holds a byte.
    [[nodiscard]] std::size_t path_number(std::uint64_t position) const;

  private:
    /// Return the size of each file for a total number of chunks.
    [[nodiscard]] off_t end_of(std::size_t chunks) const;
    /// Extend all files, or none. \returns 0 or errno.
    [[nodiscard]] int grow(off_t from, off_t to) const;
    [[nodiscard]] int try_to_grow(off_t from, off_t to) const;
    void give_back(std::size_t files, off_t to) const;
    /// Check that each file system keeps its reserve after each file has grown by some bytes.
    [[nodiscard]] int check_reserve(std::uint64_t bytes) const;
    /// Return the free bytes of all file systems.
    [[nodiscard]] std::uint64_t free_bytes() const;

    /// File system with at least one file of the store.
    struct FileSystem {
        dev_t device;
        Fd directory_fd; ///< Locked while free space is checked and allocated (flock(2)).
        int file;        ///< One of the files on it.
        std::uint64_t files;
    };

    std::vector<std::string> paths_;
    std::vector<Fd> files_;
    std::vector<FileSystem>
        file_systems_; ///< In the order of device numbers, to avoid deadlocks of processes that lock several.
    std::size_t chunk_;
    std::optional<std::uint64_t> keep_free_;
    Clock::duration quiet_period_;     ///< Time without released space after which waiting ends.
    Clock::time_point retry_deadline_; ///< Time after which missing space is no longer waited for.
    std::size_t allocated_ = 0;        ///< Chunks with allocated blocks, from the first on.
    RangeAllocator free_;
};

} // namespace assay::tier
