#pragma once

#include "tier/chunk.hpp"
#include "tier/disk.hpp"
#include "tier/means.hpp"
#include "tier/store.hpp"

#include <cstddef>
#include <memory>
#include <string>

namespace assay::tier {

/// Chunks on their way between frames and the store.
class Transfers {
  public:
    /// \throws what Store and the disk do.
    explicit Transfers(const Means& means);

    /// Begin to, from or to a chunk's frame. \returns false where there is no room among the transfers; then
    ///     nothing is changed.
    [[nodiscard]] bool read(Chunk& chunk);
    [[nodiscard]] bool write(Chunk& chunk);
    /// What was begun goes on its way.
    void begin() { disk_->begin(); }

    struct Ended {
        Chunk* chunk;
        bool write;
        int error; ///< errno, 0 where all of it was transferred.
    };
    /// One that has ended, as long as there is one.
    [[nodiscard]] bool next(Ended& ended);

    /// Readable when one may have ended.
    [[nodiscard]] int ready() const { return disk_->ready(); }
    /// Whether some could not go on their way, and `begin` is to be called again.
    [[nodiscard]] bool is_behind() const { return disk_->is_behind(); }
    [[nodiscard]] std::size_t count() const { return count_; }
    /// Bytes that nobody had asked for.
    [[nodiscard]] std::size_t unasked_bytes() const { return unasked_bytes_; }
    [[nodiscard]] std::size_t writing_bytes() const { return writing_bytes_; }

    /// Room for chunks, and where one of them lies.
    [[nodiscard]] Store& store() { return store_; }
    [[nodiscard]] const std::string& path_of(const Chunk& chunk) const;

  private:
    [[nodiscard]] bool start(Chunk& chunk, bool write);

    Store store_;
    std::unique_ptr<Disk> disk_;
    std::size_t count_ = 0, unasked_bytes_ = 0, writing_bytes_ = 0;
};

} // namespace assay::tier
