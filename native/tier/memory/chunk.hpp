#pragma once

#include "tier/io/digest.hpp"

#include <cstddef>
#include <cstdint>

namespace assay::tier {

class Region;

/// Unit of fetch and eviction: an aligned, power-of-two range of a region. A sparsely used chunk is split
/// into parts, which are chunks themselves and may be split again.
struct Chunk {
    enum class State : std::uint8_t {
        zero,         ///< Zeros; without frame and backing store.
        stored,       ///< In the store only.
        reading,      ///< Being read from the store into a frame.
        unmapped,     ///< In a frame, not mapped: the next access faults.
        mapped,       ///< Mapped into its region.
        write_queued, ///< In a frame, queued for write-back.
        writing,      ///< In a frame, being written back.
        discarded,    ///< In transfer, content no longer needed.
        lost,         ///< Unreadable: accesses raise SIGBUS.
        split,        ///< Replaced by its parts.
    };

    Region* region = nullptr;
    Chunk* previous = nullptr; ///< Links of its list.
    Chunk* next = nullptr;
    std::byte* at = nullptr;      ///< Address in its region.
    std::byte* frame = nullptr;   ///< In states reading, unmapped, write_queued, writing.
    Digest digest{};              ///< Digest of the content in the store, valid if `has_digest`.
    std::uint32_t mapped_at = 0;  ///< Time of the last mapping, in units of EvictionPolicy.
    std::uint8_t shift : 5 = 0;   ///< Size: 2^shift bytes.
    std::uint8_t streak : 2 = 0;  ///< Consecutive second-chance hits, saturating at 3.
    bool is_prefetch : 1 = false; ///< A prefetch is in flight.
    State state = State::zero;
    enum class List : std::uint8_t { none, main, probation, second_chance, sampled, prefetched, pinned };
    List list = List::none;  ///< List of EvictionPolicy that contains the chunk.
    bool stored : 1 = false; ///< The store has content, possibly outdated.
    bool has_digest : 1 = false;
    bool has_waiter : 1 = false;  ///< A thread waits for it.
    bool dirty : 1 = false;       ///< Written since it was mapped; false means unknown.
    bool was_evicted : 1 = false; ///< Evicted before.
    bool deferred : 1 = false;    ///< Retry of an operation is pending.
    std::uint8_t skips : 2 = 0;   ///< Number of times that eviction will still skip it.

    [[nodiscard]] std::size_t bytes() const { return std::size_t{1} << shift; }
};

/// A region may have one for each page.
static_assert(sizeof(Chunk) == 64);

/// FIFO list of chunks. A chunk is in one list at a time.
class Queue {
  public:
    [[nodiscard]] Chunk* front() const { return head_; }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }

    void add(Chunk& chunk) {
        chunk.previous = tail_;
        chunk.next = nullptr;
        (tail_ ? tail_->next : head_) = &chunk;
        tail_ = &chunk;
        ++size_;
        bytes_ += chunk.bytes();
    }
    void remove(Chunk& chunk) {
        (chunk.previous ? chunk.previous->next : head_) = chunk.next;
        (chunk.next ? chunk.next->previous : tail_) = chunk.previous;
        chunk.previous = chunk.next = nullptr;
        --size_;
        bytes_ -= chunk.bytes();
    }

  private:
    Chunk* head_ = nullptr;
    Chunk* tail_ = nullptr;
    std::size_t size_ = 0, bytes_ = 0;
};

} // namespace assay::tier
