#include "tier/pager/arena.hpp"

#include "tier/base/error_text.hpp"
#include "tier/base/scoped_signal_block.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>

namespace assay::tier {

namespace {

constexpr std::size_t max_blocks = 1 << 16;
constexpr std::size_t bits = 64; ///< Bits of a word.

std::size_t pages(std::size_t bytes) {
    return whole_pages(bytes) / page;
}

} // namespace

Arena::Arena(const PagerConfig& config)
    : pager_(config), chunk_(config.chunk_bytes), chunks_(config.address_bytes / config.chunk_bytes),
      bytes_(chunks_ * chunk_), reserved_(bytes_ + chunk_), free_(max_blocks + 1), blocks_(max_blocks),
      free_blocks_(max_blocks), owner_(chunks_), unmapped_pages_(bytes_ / page / bits + 1) {
    area_ = sys::map(nullptr, reserved_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
    if (area_ == nullptr) throw std::runtime_error(address_space_error(reserved_));
    base_ = aligned(area_, chunk_);
    free_.release(0, chunks_);
    owner_.fill(chunks_);
    unmapped_pages_.fill(bytes_ / page / bits + 1);
}

Arena::~Arena() {
    for (Block& block : blocks_)
        if (block.region != nullptr) pager_.remove(*block.region);
    sys::unmap(area_, reserved_);
}

void* Arena::allocate(std::size_t bytes, std::size_t spare) {
    if (bytes == 0 || bytes > bytes_ || spare > bytes_ - bytes) {
        errno = ENOMEM;
        return nullptr;
    }
    const std::size_t count = (bytes + spare + chunk_ - 1) / chunk_;
    const ScopedSignalBlock block_signals;
    std::size_t first = 0;
    std::uint32_t number = 0;
    {
        const std::lock_guard lock(lock_);
        if ((free_blocks_.empty() && blocks_.full()) || !free_.take(count, first)) {
            errno = ENOMEM;
            return nullptr;
        }
        if (free_blocks_.empty()) {
            number = static_cast<std::uint32_t>(blocks_.size());
            blocks_.add(Block{});
        } else {
            number = free_blocks_.take_last();
        }
        blocks_[number] = Block{first, count, bytes, pages(bytes), nullptr};
    }
    std::byte* const at = address(first);
    constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    Region* region = nullptr;
    if (sys::map(at, count * chunk_, PROT_READ | PROT_WRITE, flags) != nullptr) {
        sys::size_pages(at, count * chunk_, chunk_);
        // A child process has no pager: an access must terminate it instead of reading zeros.
        sys::advise(at, count * chunk_, MADV_DONTFORK);
        region = pager_.add(at, count * chunk_);
    }
    const int error = errno;
    const std::lock_guard lock(lock_);
    blocks_[number].region = region;
    if (region == nullptr) {
        free_block(blocks_[number]);
        errno = error == EDQUOT ? ENOSPC : is_storage_error(error) ? error : ENOMEM;
        return nullptr;
    }
    for (std::size_t i = 0; i < count; ++i) owner_[first + i] = number + 1;
    return at;
}

/// Free the addresses of a block. Later accesses raise SIGSEGV.
void Arena::free_block(Block& block) {
    sys::map(address(block.first), block.count * chunk_, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED);
    for (std::size_t i = 0; i < block.count; ++i) owner_[block.first + i] = 0;
    if (block.mapped_pages < pages(block.bytes)) {
        const std::size_t first = block.first * chunk_ / page;
        for (std::size_t i = first; i < first + pages(block.bytes); ++i)
            unmapped_pages_[i / bits] &= ~(std::uint64_t{1} << i % bits);
    }
    free_.release(block.first, block.count);
    free_blocks_.add(static_cast<std::uint32_t>(&block - blocks_.begin()));
    block = Block{};
}

Arena::Block* Arena::block_of(const void* at) {
    const std::uint32_t number = owner_[chunk_of(at)];
    return number == 0 ? nullptr : &blocks_[number - 1];
}

std::size_t Arena::bytes_until_end(const void* at) {
    const ScopedSignalBlock block_signals;
    const std::lock_guard lock(lock_);
    const Block* const block = block_of(at);
    if (block == nullptr) return 0;
    const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(at) - address(block->first));
    return offset < block->bytes ? block->bytes - offset : 0;
}

void Arena::free(void* at) {
    const std::size_t bytes = bytes_until_end(at);
    if (bytes > 0) unmap(at, bytes);
}

void Arena::unmap(void* at, std::size_t bytes) {
    auto* from = static_cast<std::byte*>(at);
    std::byte* const stop = from + whole_pages(bytes);
    const ScopedSignalBlock block_signals;
    while (from < stop && contains(from)) {
        const std::lock_guard lock(lock_);
        Block* const block = block_of(from);
        if (block == nullptr) {
            from = address(chunk_of(from) + 1);
            continue;
        }
        std::byte* const first = address(block->first);
        std::byte* const last = first + whole_pages(block->bytes);
        std::byte* const block_end = address(block->first + block->count);
        if (from >= last) {
            from = block_end;
            continue;
        }
        std::byte* const to = std::min(stop, last);
        // The common case of a whole block needs no check of single pages.
        const bool whole = from == first && to == last;
        if (!whole) block->mapped_pages -= mark_unmapped(from, to);
        if (whole || block->mapped_pages == 0) {
            pager_.remove(*block->region);
            free_block(*block);
        } else {
            // This raises an event, which the pager handles without this lock.
            std::byte* const through = to == last ? block_end : to;
            sys::map(from, static_cast<std::size_t>(through - from), PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED);
            // No event covers a chunk that is unmapped piece by piece.
            for (std::byte* const edge : {from, through - 1})
                if (is_unmapped(*block, chunk_of(edge))) pager_.forget(address(chunk_of(edge)));
        }
        from = to == last ? block_end : to;
    }
}

void Arena::zero_mapped_pages(std::byte* from, std::byte* to) {
    while (from < to) {
        std::byte* const next = std::min(aligned(from + 1, page), to);
        if (!is_unmapped(from)) std::memset(from, 0, static_cast<std::size_t>(next - from));
        from = next;
    }
}

bool Arena::is_unmapped(const std::byte* at) {
    const ScopedSignalBlock block_signals;
    const std::lock_guard lock(lock_);
    const auto number = static_cast<std::size_t>(at - base_) / page;
    return (unmapped_pages_[number / bits] & (std::uint64_t{1} << number % bits)) != 0;
}

std::size_t Arena::mark_unmapped(const std::byte* from, const std::byte* to) {
    std::size_t newly_marked = 0;
    for (auto i = static_cast<std::size_t>(from - base_) / page;
         i < static_cast<std::size_t>(to - base_) / page; ++i) {
        std::uint64_t& word = unmapped_pages_[i / bits];
        const std::uint64_t bit = std::uint64_t{1} << i % bits;
        if ((word & bit) == 0) ++newly_marked;
        word |= bit;
    }
    return newly_marked;
}

bool Arena::is_unmapped(const Block& block, std::size_t chunk) const {
    const std::size_t stop = block.first * chunk_ / page + pages(block.bytes);
    for (std::size_t i = chunk * chunk_ / page; i < std::min((chunk + 1) * chunk_ / page, stop); ++i)
        if ((unmapped_pages_[i / bits] & (std::uint64_t{1} << i % bits)) == 0) return false;
    return true;
}

void* Arena::resize(void* at, std::size_t bytes) {
    const std::size_t before = bytes_until_end(at);
    {
        const ScopedSignalBlock block_signals;
        const std::lock_guard lock(lock_);
        Block* const block = block_of(at);
        if (block != nullptr && at == address(block->first) && block->mapped_pages == pages(block->bytes) &&
            bytes <= block->count * chunk_) {
            block->bytes = bytes;
            block->mapped_pages = pages(bytes);
            const std::size_t stop = (before + chunk_ - 1) / chunk_;
            for (std::size_t i = (bytes + chunk_ - 1) / chunk_; i < stop;)
                i += std::max(pager_.discard(address(block->first + i), stop - i), std::size_t{1});
            return at;
        }
    }
    void* other = allocate(bytes, bytes / 4);
    if (other == nullptr) other = allocate(bytes);
    if (other == nullptr) return nullptr;
    std::memcpy(other, at, std::min(before, bytes));
    free(at);
    return other;
}

void Arena::close_in_child() const {
    sys::map(area_, reserved_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED);
}

void Arena::discard(void* at, std::size_t bytes) {
    auto* from = static_cast<std::byte*>(at);
    std::byte* const stop = from + std::min(bytes, whole_pages(bytes_until_end(at)));
    while (from < stop) {
        const auto wholes = static_cast<std::size_t>(stop - from) / chunk_;
        if (from == address(chunk_of(from)) && wholes > 0) {
            const std::size_t discarded = pager_.discard(from, wholes);
            from += discarded * chunk_;
            if (discarded > 0) continue;
        }
        std::byte* const next = std::min(address(chunk_of(from) + 1), stop);
        zero_mapped_pages(from, next);
        from = next;
    }
}

void Arena::advise(void* at, std::size_t bytes, AccessPattern pattern) {
    const ScopedSignalBlock block_signals;
    const std::lock_guard lock(lock_);
    Block* const block = block_of(at);
    if (block != nullptr && bytes >= block->bytes / 2) pager_.advise(*block->region, pattern);
}

void Arena::evict(void* at, std::size_t bytes) {
    std::byte* const stop = static_cast<std::byte*>(at) + std::min(bytes, bytes_until_end(at));
    std::byte* const first = aligned(static_cast<std::byte*>(at), chunk_);
    if (first < stop) pager_.evict(first, static_cast<std::size_t>(stop - first) / chunk_);
}

void Arena::prefetch(void* at, std::size_t bytes, std::size_t stride, std::size_t rows) {
    auto* row = static_cast<std::byte*>(at);
    std::byte* const stop = row + bytes_until_end(at);
    // Range of the current chunk; several rows may lie in it.
    std::byte* first = row;
    std::byte* last = row;
    // Ranges not yet passed to the pager.
    std::array<PagerEngine::ByteRange, 64> ranges{};
    std::size_t count = 0;
    const auto flush = [&] {
        if (count > 0) pager_.prefetch(std::span(ranges).first(count));
        count = 0;
    };
    const auto add_range = [&] {
        if (first == last) return;
        ranges[count++] = {first, static_cast<std::size_t>(last - first)};
        if (count == ranges.size()) flush();
    };
    for (; rows > 0 && row < stop; --rows) {
        std::byte* const to = row + std::min(bytes, static_cast<std::size_t>(stop - row));
        for (std::byte* from = row; from < to;) {
            if (chunk_of(from) != chunk_of(first)) {
                add_range();
                first = from;
            }
            from = last = std::min(address(chunk_of(from) + 1), to);
        }
        if (stride == 0 || stride >= static_cast<std::size_t>(stop - row)) break;
        row += stride;
    }
    add_range();
    flush();
}

} // namespace assay::tier
