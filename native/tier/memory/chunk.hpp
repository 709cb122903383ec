#pragma once

#include "tier/io/digest.hpp"

#include <cstddef>
#include <cstdint>

namespace assay::tier {

class Region;

/// What is brought and taken away in one piece: so many bytes of a region, from a multiple of their number
/// on. One of which little is used at a time is split into parts, and each of these is a chunk of its own,
/// which may be split in turn.
struct Chunk {
    enum class State : std::uint8_t {
        zero,         ///< Zeros; it lies nowhere.
        stored,       ///< In the store.
        reading,      ///< On its way from the store to a frame.
        unmapped,     ///< In a frame, not mapped: the next touch tells that it is used.
        mapped,       ///< Mapped, where the program has it.
        write_queued, ///< In a frame, and to go to the store when its turn comes.
        writing,      ///< In a frame, and on its way to the store.
        discarded,    ///< On its way, and not needed any more.
        lost,         ///< It could not be read: touching it ends in SIGBUS.
        split,        ///< Its parts have states of their own.
    };

    Region* region = nullptr;
    Chunk* previous = nullptr; ///< In the queue it is in.
    Chunk* next = nullptr;
    std::byte* at = nullptr;     ///< In its region.
    std::byte* frame = nullptr;  ///< Reading, staged, leaving.
    Digest digest{};             ///< Of what is in the store, where `known`.
    std::uint32_t mapped_at = 0; ///< When it was mapped last, in what Residence counts.
    std::uint8_t shift : 5 = 0;  ///< It is of 2^shift bytes.
    std::uint8_t streak : 2 = 0; ///< How often in a row it was touched while it was only unmapped; 3 or more.
    bool is_prefetch : 1 = false; ///< It is being read before anybody asked.
    State state = State::zero;
    enum class List : std::uint8_t { none, main, probation, second_chance, sampled, prefetched, pinned };
    List list = List::none;  ///< The queue it is in: see Residence.
    bool stored : 1 = false; ///< The store holds it, perhaps as it was before.
    bool has_digest : 1 = false;
    bool has_waiter : 1 = false;  ///< A thread waits for it.
    bool dirty : 1 = false;       ///< Since it was mapped, for sure.
    bool was_evicted : 1 = false; ///< It was taken away before.
    bool deferred : 1 = false;    ///< It is to be tried again.
    std::uint8_t skips : 2 = 0;   ///< So many times it is passed over before it is unmapped.

    [[nodiscard]] std::size_t bytes() const { return std::size_t{1} << shift; }
};

/// There may be one for each page of a region.
static_assert(sizeof(Chunk) == 64);

/// Chunks of any size in the order in which they were added, each in one queue at a time.
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
