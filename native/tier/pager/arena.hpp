#pragma once

#include "tier/base/range_allocator.hpp"
#include "tier/pager/pager.hpp"

#include <cerrno>
#include <cstddef>
#include <mutex>

namespace assay::tier {

/// Blocks of managed memory, from addresses that were set apart for them: whether an address is one of these
/// is known without looking anything up.
class Arena {
  public:
    /// \throws what Pager does, and std::bad_alloc.
    explicit Arena(const PagerConfig& config);
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;
    ~Arena();

    /// Zeros, from the beginning of a chunk on.
    ///
    /// \param spare bytes behind it that it may grow by in its place.
    /// \returns null with errno: ENOMEM, or what keeps the disks from giving room.
    [[nodiscard]] void* allocate(std::size_t bytes, std::size_t spare = 0);
    /// Whether an error number is one of the latter.
    [[nodiscard]] static bool is_storage_error(int error) {
        return error == ENOSPC || error == EFBIG || error == EROFS || error == EIO;
    }
    [[nodiscard]] bool contains(const void* at) const {
        return static_cast<const std::byte*>(at) >= base_ &&
               static_cast<const std::byte*>(at) < base_ + bytes_;
    }
    /// Bytes from an address on to the end of its block; 0 where there is none.
    [[nodiscard]] std::size_t bytes_until_end(const void* at);
    void free(void* at);
    /// In its place, or elsewhere with all that it holds, and with room to grow: what grows once does it
    /// again.
    /// \returns null with errno; then nothing is changed.
    [[nodiscard]] void* resize(void* at, std::size_t bytes);

    /// munmap(2) of whole pages: any part of blocks.
    void unmap(void* at, std::size_t bytes);
    /// Zeros from now on, as by MADV_DONTNEED.
    void discard(void* at, std::size_t bytes);
    /// The order in which a block will be gone through, where at least half of it is meant; as by
    /// MADV_RANDOM.
    void advise(void* at, std::size_t bytes, AccessPattern pattern);
    /// It keeps its content, and will not be touched soon, as by MADV_PAGEOUT.
    void evict(void* at, std::size_t bytes);
    /// Rows of a block will be touched soon, as by MADV_WILLNEED.
    ///
    /// \param bytes of a row. \param stride bytes from the beginning of a row to that of the next.
    void prefetch(void* at, std::size_t bytes, std::size_t stride = 0, std::size_t rows = 1);

    [[nodiscard]] Pager& pager() { return pager_; }
    /// In a child of a fork: touches end it by SIGSEGV, and nothing else comes to be where it is.
    void close_in_child() const;
    /// Of all regions there are and were.
    [[nodiscard]] Counts counts() { return pager_.counts(); }

  private:
    struct Block {
        std::size_t first, count; ///< Chunks.
        std::size_t bytes;        ///< That were asked for.
        std::size_t mapped_pages; ///< Pages of them that are not unmapped yet.
        Region* region;
    };

    [[nodiscard]] std::byte* address(std::size_t chunk) const { return base_ + chunk * chunk_; }
    [[nodiscard]] std::size_t chunk_of(const void* at) const {
        return static_cast<std::size_t>(static_cast<const std::byte*>(at) - base_) / chunk_;
    }
    [[nodiscard]] Block* block_of(const void* at);
    void free_block(Block& block);
    void zero_mapped_pages(std::byte* from, std::byte* to);
    [[nodiscard]] bool is_unmapped(const std::byte* at);
    /// Whether nothing of a block's chunk is mapped any more.
    [[nodiscard]] bool is_unmapped(const Block& block, std::size_t chunk) const;
    /// Pages are not mapped any more. \returns how many were.
    std::size_t mark_unmapped(const std::byte* from, const std::byte* to);

    Pager pager_;
    std::size_t chunk_, chunks_;
    std::size_t bytes_ = 0, reserved_ = 0;
    std::byte* area_ = nullptr;
    std::byte* base_ = nullptr;
    std::mutex lock_;
    RangeAllocator free_; ///< Chunks.
    Table<Block> blocks_;
    Table<std::uint32_t> free_blocks_;    ///< Blocks that are free.
    Table<std::uint32_t> owner_;          ///< Of each chunk: a block's number and one, or 0.
    Table<std::uint64_t> unmapped_pages_; ///< A bit for each page: of a block, and unmapped.
};

} // namespace assay::tier
