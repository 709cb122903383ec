#pragma once

#include "tier/base/table.hpp"
#include "tier/fault/huge_pages.hpp"
#include "tier/fault/userfault.hpp"
#include "tier/memory/chunk.hpp"
#include "tier/memory/frame_allocator.hpp"

#include <cstddef>
#include <optional>

namespace assay::tier {

/// Chunks in their regions: what the kernel tells of them, and their pages that come and go.
class ChunkMapper {
  public:
    /// \throws std::runtime_error, std::bad_alloc.
    explicit ChunkMapper(MapMethod map_method);
    ChunkMapper(const ChunkMapper&) = delete;
    ChunkMapper& operator=(const ChunkMapper&) = delete;
    ~ChunkMapper();

    /// Readable when the kernel has something to tell.
    [[nodiscard]] int ready() const { return fault_.fd(); }
    /// Faults of a region are told from now on. \returns 0, or errno.
    [[nodiscard]] int register_range(void* at, std::size_t bytes) const {
        return fault_.register_range(at, bytes);
    }
    /// What the kernel tells, to be handled when nothing is under way: whoever waits for it to be read goes
    /// on.
    void read_messages();
    /// The next of what was read, as long as there is one.
    [[nodiscard]] bool next_message(uffd_msg& message);
    /// Whether there is one: something else had to be done first.
    [[nodiscard]] bool has_message() const { return next_ < messages_.size(); }

    enum class MapResult {
        mapped,
        gone,  ///< None of its pages is mapped any more, and its frame is gone.
        retry, ///< An event has to be read first.
    };
    /// What is in a chunk's frame comes to where it belongs, and what waits for it goes on. The frame is gone
    /// then.
    [[nodiscard]] MapResult map(Chunk& chunk, FrameAllocator& frames);
    /// All of a chunk is mapped now, perhaps put in parts.
    void keep_huge(const Chunk& chunk) {
        if (huge_pages_) huge_pages_->restore(chunk.at, chunk.bytes());
    }
    enum class UnmapResult {
        taken,
        busy,      ///< The kernel, or a child of a fork, uses some of its pages just now.
        unmovable, ///< Its pages are not alike.
    };
    /// All pages of a mapped chunk, or none of them, come to a frame.
    [[nodiscard]] UnmapResult take_pages(Chunk& chunk, FrameAllocator& frames);

    /// A page of zeros where none is.
    void map_zero_page(std::byte* at);
    /// What waits touches it again.
    void wake(std::byte* at, std::size_t bytes) const { fault_.wake(at, bytes); }
    /// Touching a chunk ends in SIGBUS from now on, or the program ends here.
    void poison(const Chunk& chunk);

  private:
    [[nodiscard]] MapResult map_by_pages(Chunk& chunk, FrameAllocator& frames, std::size_t done);
    /// Pages of a chunk from `first` to `last`, which nobody else writes. \returns whether any is mapped.
    bool copy_pages(std::byte* to, const std::byte* from, std::size_t first, std::size_t last);
    /// What was moved away comes back. \returns false where some of it had to be copied.
    [[nodiscard]] bool return_pages(std::byte* to, std::byte* place, std::size_t bytes);
    /// Something is being unmapped, and until the thread that does it has gone on, the kernel answers EAGAIN
    /// (userfaultfd_event_wait_completion of fs/userfaultfd.c): however long that is on a busy CPU.
    void drain_event();

    Userfault fault_;
    std::optional<HugePageKeeper> huge_pages_; ///< Where pages move.
    std::byte* zeros_;                         ///< A page of them, which nobody writes.
    Table<uffd_msg> messages_;
    std::size_t next_ = 0; ///< Of these.
};

} // namespace assay::tier
