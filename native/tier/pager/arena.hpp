#pragma once

#include "tier/base/range_allocator.hpp"
#include "tier/pager/pager.hpp"

#include <cerrno>
#include <cstddef>
#include <mutex>

namespace assay::tier {

/// Allocator of managed memory in a reserved address range, so that an address can be classified by
/// comparison.
class Arena {
  public:
    /// \throws exceptions of Pager; std::bad_alloc.
    explicit Arena(const PagerConfig& config);
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;
    ~Arena();

    /// Allocate zeros at a chunk boundary.
    ///
    /// \param spare bytes reserved behind the block for growing in place.
    /// \returns null with errno: ENOMEM or a storage error.
    [[nodiscard]] void* allocate(std::size_t bytes, std::size_t spare = 0);
    /// Return true for an error number of the backing store.
    [[nodiscard]] static bool is_storage_error(int error) {
        return error == ENOSPC || error == EFBIG || error == EROFS || error == EIO;
    }
    [[nodiscard]] bool contains(const void* at) const {
        return static_cast<const std::byte*>(at) >= base_ &&
               static_cast<const std::byte*>(at) < base_ + bytes_;
    }
    /// Return the bytes from an address to the end of its block; 0 outside of blocks.
    [[nodiscard]] std::size_t bytes_until_end(const void* at);
    void free(void* at);
    /// Resize a block in place, or move it with spare space: a growing block is likely to grow again.
    /// \returns null with errno, leaving the block unchanged.
    [[nodiscard]] void* resize(void* at, std::size_t bytes);

    /// Implement munmap(2) for whole pages of any blocks.
    void unmap(void* at, std::size_t bytes);
    /// Replace content by zeros, as MADV_DONTNEED does.
    void discard(void* at, std::size_t bytes);
    /// Set the access pattern of a block, as MADV_RANDOM does; ignored for less than half of it.
    void advise(void* at, std::size_t bytes, AccessPattern pattern);
    /// Evict content that will not be accessed soon, as MADV_PAGEOUT does.
    void evict(void* at, std::size_t bytes);
    /// Prefetch rows of a block, as MADV_WILLNEED does.
    ///
    /// \param bytes length of a row. \param stride distance between the beginnings of two rows, in bytes.
    void prefetch(void* at, std::size_t bytes, std::size_t stride = 0, std::size_t rows = 1);

    [[nodiscard]] Pager& pager() { return pager_; }
    /// Prepare a child process: accesses raise SIGSEGV, and the addresses are not reused.
    void close_in_child() const;
    /// Return the counters of all regions, including removed ones.
    [[nodiscard]] Counts counts() { return pager_.counts(); }

  private:
    struct Block {
        std::size_t first, count; ///< In chunks.
        std::size_t bytes;        ///< As requested.
        std::size_t mapped_pages; ///< Pages not yet unmapped.
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
    /// Return true if no page of a chunk is mapped.
    [[nodiscard]] bool is_unmapped(const Block& block, std::size_t chunk) const;
    /// Mark pages as unmapped. \returns the number of newly marked ones.
    std::size_t mark_unmapped(const std::byte* from, const std::byte* to);

    Pager pager_;
    std::size_t chunk_, chunks_;
    std::size_t bytes_ = 0, reserved_ = 0;
    std::byte* area_ = nullptr;
    std::byte* base_ = nullptr;
    std::mutex lock_;
    RangeAllocator free_; ///< In chunks.
    Table<Block> blocks_;
    Table<std::uint32_t> free_blocks_;    ///< Numbers of free entries in `blocks_`.
    Table<std::uint32_t> owner_;          ///< Block of each chunk: number plus one, or 0.
    Table<std::uint64_t> unmapped_pages_; ///< One bit for each unmapped page within a block.
};

} // namespace assay::tier
