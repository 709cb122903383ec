#pragma once

#include "common/fd.hpp"
#include "tier/table.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace assay::tier {

/// Where a chunk lies on storage.
using Slot = std::uint64_t;
inline constexpr Slot no_slot = ~Slot{0};

/// Room for chunks in files without a name, on one or several paths in turn. They are gone with the last
/// process that has them open.
class Store {
  public:
    /// \param paths directories; one on each device gives the sum of their bandwidths.
    /// \param chunk bytes of a slot. \param most slots there may ever be.
    /// \throws std::runtime_error, naming the path and what to do: no directory, no right to write, memory
    ///     itself (tmpfs), no O_DIRECT.
    Store(const std::vector<std::string>& paths, std::size_t chunk, std::size_t most);

    /// Takes room for so many more, now, so that no fault finds the device full.
    ///
    /// \returns 0, or errno: ENOSPC, EDQUOT, EFBIG. Then nothing is taken.
    [[nodiscard]] int reserve(std::size_t slots);
    /// Gives room back that was reserved and is not taken.
    void release(std::size_t slots) { promised_ -= slots; }

    /// One of those that were reserved.
    [[nodiscard]] Slot take();
    /// Its content is not needed any more; it is reserved still.
    void give(Slot slot) { free_.add(slot); }

    [[nodiscard]] std::size_t chunk() const { return chunk_; }
    [[nodiscard]] int file_of(Slot slot) const { return files_[slot % files_.size()].get(); }
    [[nodiscard]] const std::vector<Fd>& files() const { return files_; }
    [[nodiscard]] std::uint64_t offset_of(Slot slot) const { return slot / files_.size() * chunk_; }
    [[nodiscard]] const std::string& path_of(Slot slot) const { return paths_[slot % paths_.size()]; }

  private:
    /// Bytes of a file that so many slots take.
    [[nodiscard]] off_t end_of(std::size_t file, std::size_t slots) const;

    std::vector<std::string> paths_;
    std::vector<Fd> files_;
    std::size_t chunk_, most_;
    std::size_t promised_ = 0;  ///< Slots that were reserved.
    std::size_t allocated_ = 0; ///< Slots that the files have blocks for.
    std::size_t begun_ = 0;     ///< Slots that were ever taken.
    Table<Slot> free_;          ///< Taken before, and given back.
};

} // namespace assay::tier
