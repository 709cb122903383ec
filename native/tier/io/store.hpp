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

/// Room in files without a name, on one or several paths: of as many chunks in a row as there are paths each
/// has one, so that they share what comes one after the other. In which order they have them changes from row
/// to row as if by chance; else one path would do all the work where every second chunk is used, or every
/// column of a matrix. The files are gone with the last process that has them open.
class Store {
  public:
    using Clock = std::chrono::steady_clock;

    /// \param paths directories; one on each device gives the sum of their bandwidths.
    /// \param most chunks there may ever be.
    /// \param keep_free bytes of each file system that are never taken, now or later; where none is named a
    ///     twentieth of it, 1 GiB at most.
    /// \param patience how long from now room that lacks may still come, and is waited for as long as some
    ///     comes every quarter of that. A program that ends with transfers under way is over before they are,
    ///     and until then the kernel holds its files (io_uring, Linux 6.18: 20 to 100 ms with a disk of
    ///     200 MB/s).
    /// \throws std::runtime_error, naming the path and what to do: no directory, no right to write, memory
    ///     itself (tmpfs), no O_DIRECT.
    Store(const std::vector<std::string>& paths, std::size_t chunk, std::size_t max,
          std::optional<std::uint64_t> keep_free = {}, Clock::duration patience = std::chrono::seconds(1));

    /// Take room for chunks in a row, now, so that no fault finds the device full. Free room beyond the
    /// reserve is looked at first: a request that is too large takes no room from other programs, not for a
    /// moment.
    ///
    /// \param first set to the number of the first.
    /// \returns 0, or errno: ENOSPC, EDQUOT, EFBIG (ulimit -f), ENOMEM. Then nothing is taken.
    [[nodiscard]] int reserve(std::size_t chunks, std::size_t& first);
    void release(std::size_t first, std::size_t chunks) { free_.release(first, chunks); }

    [[nodiscard]] const std::vector<Fd>& files() const { return files_; }
    /// Where a byte of all the room lies; up to the end of its chunk they follow each other there.
    [[nodiscard]] int file_of(std::uint64_t position) const { return files_[path_number(position)].get(); }
    [[nodiscard]] std::uint64_t offset_of(std::uint64_t position) const {
        return position / chunk_ / files_.size() * chunk_ + position % chunk_;
    }
    [[nodiscard]] const std::string& path_of(std::uint64_t position) const {
        return paths_[path_number(position)];
    }

    /// Of the path that holds it, among all.
    [[nodiscard]] std::size_t path_number(std::uint64_t position) const;

  private:
    /// Bytes of each file that so many chunks of all take.
    [[nodiscard]] off_t end_of(std::size_t chunks) const;
    /// All files grow, or none. \returns 0, or errno.
    [[nodiscard]] int grow(off_t from, off_t to) const;
    [[nodiscard]] int try_to_grow(off_t from, off_t to) const;
    void give_back(std::size_t files, off_t to) const;
    /// Check that each file system keeps its reserve after each file has grown by some bytes.
    [[nodiscard]] int check_reserve(std::uint64_t bytes) const;
    /// Free bytes of all file systems.
    [[nodiscard]] std::uint64_t free_bytes() const;

    /// A file system that files are on.
    struct FileSystem {
        dev_t device;
        Fd directory_fd; ///< Locked by who looks for room and takes it (flock(2)).
        int file;        ///< One of those on it.
        std::uint64_t files;
    };

    std::vector<std::string> paths_;
    std::vector<Fd> files_;
    std::vector<FileSystem>
        file_systems_; ///< By number, so that two who lock several do not wait for each other.
    std::size_t chunk_;
    std::optional<std::uint64_t> keep_free_;
    Clock::duration quiet_period_;     ///< Where so long no room came, none comes.
    Clock::time_point retry_deadline_; ///< From when on room that lacks does not come.
    std::size_t allocated_ = 0;        ///< Chunks that the files have blocks for, from the first on.
    RangeAllocator free_;
};

} // namespace assay::tier
