#pragma once

#include "tier/io/disk.hpp"
#include "tier/io/store.hpp"
#include "tier/memory/chunk.hpp"
#include "tier/pager/pager_config.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace assay::tier {

/// Chunks on their way between frames and the store. A disk does one after the other, so of what is written
/// only a few are on their way at a time: what somebody waits for is not to queue behind all of them.
class Transfers {
  public:
    /// \throws what Store and the disk do.
    explicit Transfers(const PagerConfig& config);

    /// Whether there is no room for more to be written. What is due holds up no read: the disk says itself
    /// whether it has room.
    [[nodiscard]] bool full() const { return count_ >= depth_; }
    /// Begins to, to a chunk's frame. \returns false where the disk has no room; then nothing is changed.
    [[nodiscard]] bool read(Chunk& chunk);
    /// From a chunk's frame, as soon as its turn comes; there has to be room. The chunk is in no queue.
    void write(Chunk& chunk);
    /// What is due to be written stays.
    void cancel_write(Chunk& chunk);
    /// What was begun goes on its way.
    void submit();

    struct Completed {
        Chunk* chunk;
        bool write;
        int error; ///< errno, 0 where all of it was transferred.
    };
    /// One that has ended, as long as there is one.
    [[nodiscard]] bool next(Completed& ended);

    /// Readable when one may have ended.
    [[nodiscard]] int ready() const { return disk_->ready(); }
    /// Whether some could not go on their way, and `begin` is to be called again.
    [[nodiscard]] bool is_behind() const { return disk_->is_behind(); }
    [[nodiscard]] std::size_t count() const { return count_; }
    /// Bytes that nobody had asked for.
    [[nodiscard]] std::size_t prefetch_bytes() const { return prefetch_bytes_; }
    [[nodiscard]] std::size_t writing_bytes() const { return writing_bytes_; }

    /// Room for chunks, and where one of them lies.
    [[nodiscard]] Store& store() { return store_; }
    [[nodiscard]] const std::string& path_of(const Chunk& chunk) const;

  private:
    [[nodiscard]] bool start(Chunk& chunk, bool write);
    /// One of its region's, and of all, from its being asked for until it has ended.
    void add_in_flight(const Chunk& chunk);
    void remove_in_flight(const Chunk& chunk);
    [[nodiscard]] std::size_t& in_flight_bytes(const Chunk& chunk);

    Store store_;
    std::size_t depth_;
    std::unique_ptr<Disk> disk_;
    Queue write_queue_;                        ///< To be written, and not on their way.
    std::vector<std::size_t> in_flight_bytes_; ///< To each path.
    std::size_t count_ = 0, prefetch_bytes_ = 0, writing_bytes_ = 0;
};

} // namespace assay::tier
