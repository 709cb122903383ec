#pragma once

#include "tier/base/table.hpp"
#include "tier/fault/huge_pages.hpp"
#include "tier/fault/userfault.hpp"
#include "tier/memory/chunk.hpp"
#include "tier/memory/frame_allocator.hpp"

#include <cstddef>
#include <optional>

namespace assay::tier {

/// Maps and unmaps the pages of chunks in their regions, and receives the kernel's messages.
class ChunkMapper {
  public:
    /// \throws std::runtime_error, std::bad_alloc.
    explicit ChunkMapper(MapMethod map_method);
    ChunkMapper(const ChunkMapper&) = delete;
    ChunkMapper& operator=(const ChunkMapper&) = delete;
    ~ChunkMapper();

    /// Return a descriptor that is readable when messages are pending.
    [[nodiscard]] int ready() const { return fault_.fd(); }
    /// Register a range for page faults. \returns 0 or errno.
    [[nodiscard]] int register_range(void* at, std::size_t bytes) const {
        return fault_.register_range(at, bytes);
    }
    /// Read pending messages. Threads that wait for the delivery of an event continue, so the messages are
    /// handled later, between operations.
    void read_messages();
    /// Take the next message. \returns false if none is left.
    [[nodiscard]] bool next_message(uffd_msg& message);
    /// Return true if messages are left to be handled.
    [[nodiscard]] bool has_message() const { return next_ < messages_.size(); }

    enum class MapResult {
        mapped,
        gone,  ///< All pages were unmapped by the program; the frame was freed.
        retry, ///< An event has to be read first.
    };
    /// Map a chunk from its frame and wake waiting threads. Unless it returns `retry`, the frame is freed.
    [[nodiscard]] MapResult map(Chunk& chunk, FrameAllocator& frames);
    /// Restore huge pages after all of a chunk was mapped, possibly in parts.
    void keep_huge(const Chunk& chunk) {
        if (huge_pages_) huge_pages_->restore(chunk.at, chunk.bytes());
    }
    enum class UnmapResult {
        taken,
        busy,      ///< The kernel or a child process holds references to pages.
        unmovable, ///< The pages differ in protection or locking.
    };
    /// Move all pages of a mapped chunk to a frame, or none.
    [[nodiscard]] UnmapResult take_pages(Chunk& chunk, FrameAllocator& frames);

    /// Map a zero page at a missing address.
    void map_zero_page(std::byte* at);
    /// Wake waiting threads; they repeat their access.
    void wake(std::byte* at, std::size_t bytes) const { fault_.wake(at, bytes); }
    /// Make accesses to a chunk raise SIGBUS. Abort the program if that fails.
    void poison(const Chunk& chunk);

  private:
    [[nodiscard]] MapResult map_by_pages(Chunk& chunk, FrameAllocator& frames, std::size_t done);
    /// Copy pages of a chunk between two offsets. \returns true if any of them is mapped.
    bool copy_pages(std::byte* to, const std::byte* from, std::size_t first, std::size_t last);
    /// Move pages back to their region. \returns false if some had to be copied.
    [[nodiscard]] bool return_pages(std::byte* to, std::byte* place, std::size_t bytes);
    /// Read events until the kernel accepts operations again. It answers EAGAIN until the unmapping thread
    /// has continued (userfaultfd_event_wait_completion of fs/userfaultfd.c), however long that takes on a
    /// busy CPU.
    void drain_event();

    Userfault fault_;
    std::optional<HugePageKeeper> huge_pages_; ///< Only with MapMethod::move.
    std::byte* zeros_;                         ///< A read-only page of zeros.
    Table<uffd_msg> messages_;
    std::size_t next_ = 0; ///< Index of the next message to handle.
};

} // namespace assay::tier
