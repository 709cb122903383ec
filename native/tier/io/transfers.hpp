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

/// Transfers of chunks between frames and the store. Only a few writes are in flight at a time: a disk
/// processes requests in order, and a demand read must not queue behind all of them.
class Transfers {
  public:
    /// \throws exceptions of Store and of the disk.
    explicit Transfers(const PagerConfig& config);

    /// Return true if the write-back queue is full. Queued writes do not delay reads; the disk limits those
    /// itself.
    [[nodiscard]] bool full() const { return count_ >= depth_; }
    /// Start to read a chunk into its frame. \returns false, without any change, if the disk is full.
    [[nodiscard]] bool read(Chunk& chunk);
    /// Queue the write-back of a chunk, which must not be in any list. The queue must not be full.
    void write(Chunk& chunk);
    /// Remove a chunk from the write-back queue.
    void cancel_write(Chunk& chunk);
    /// Submit queued transfers.
    void submit();

    struct Completed {
        Chunk* chunk;
        bool write;
        int error; ///< Error number; 0 if all bytes were transferred.
    };
    /// Take a completed transfer. \returns false if none is left.
    [[nodiscard]] bool next(Completed& ended);

    /// Return a descriptor that is readable when a transfer may have completed.
    [[nodiscard]] int ready() const { return disk_->ready(); }
    /// Return true if some transfers could not be submitted and `submit` must be called again.
    [[nodiscard]] bool is_behind() const { return disk_->is_behind(); }
    [[nodiscard]] std::size_t count() const { return count_; }
    /// Return the bytes of prefetches in flight.
    [[nodiscard]] std::size_t prefetch_bytes() const { return prefetch_bytes_; }
    [[nodiscard]] std::size_t writing_bytes() const { return writing_bytes_; }

    /// Return the store of the chunks, and the path of one of them.
    [[nodiscard]] Store& store() { return store_; }
    [[nodiscard]] const std::string& path_of(const Chunk& chunk) const;

  private:
    [[nodiscard]] bool start(Chunk& chunk, bool write);
    /// Count a transfer of a region from its request to its completion.
    void add_in_flight(const Chunk& chunk);
    void remove_in_flight(const Chunk& chunk);
    [[nodiscard]] std::size_t& in_flight_bytes(const Chunk& chunk);

    Store store_;
    std::size_t depth_;
    std::unique_ptr<Disk> disk_;
    Queue write_queue_;                        ///< Chunks to be written back, not yet submitted.
    std::vector<std::size_t> in_flight_bytes_; ///< Bytes in flight for each path.
    std::size_t count_ = 0, prefetch_bytes_ = 0, writing_bytes_ = 0;
};

} // namespace assay::tier
