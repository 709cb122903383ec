#pragma once

#include "tier/content.hpp"
#include "tier/store.hpp"

#include <cstddef>
#include <cstdint>

namespace assay::tier {

struct Region;

/// The unit that is brought and taken away: so many bytes of a region, from a multiple of their number on.
struct Chunk {
    enum class State : std::uint8_t {
        fresh,   ///< Zeros; it lies nowhere.
        out,     ///< In its slot.
        reading, ///< On its way from its slot to a frame.
        staged,  ///< In a frame, not mapped: the next touch tells that it is used.
        in,      ///< Mapped, where the program has it.
        leaving, ///< In a frame, and on its way to its slot.
        dropped, ///< On its way, and not needed any more.
        lost,    ///< It could not be read: touching it ends in SIGBUS.
    };

    Region* region = nullptr;
    Chunk* before = nullptr; ///< In the queue it is in.
    Chunk* after = nullptr;
    std::byte* frame = nullptr; ///< Reading, staged, leaving.
    Slot slot = no_slot;
    Digest digest{}; ///< Of what is in the slot, where `known`.
    State state = State::fresh;
    bool known = false;
    bool waited = false;  ///< A thread waits for it.
    bool written = false; ///< Since it was mapped, for sure.
    bool returns = false; ///< It was taken away before.
    bool starved = false; ///< It is to be tried again.
    enum class Place : std::uint8_t { none, main, passing, aside, ahead };
    Place place = Place::none; ///< The queue it is in: see Residence.
};

/// Chunks in the order in which they were added; in any number of queues altogether, in one at a time.
class Queue {
  public:
    [[nodiscard]] Chunk* front() const { return first_; }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }

    void add(Chunk& chunk) {
        chunk.before = last_;
        chunk.after = nullptr;
        (last_ ? last_->after : first_) = &chunk;
        last_ = &chunk;
        ++size_;
    }
    void remove(Chunk& chunk) {
        (chunk.before ? chunk.before->after : first_) = chunk.after;
        (chunk.after ? chunk.after->before : last_) = chunk.before;
        chunk.before = chunk.after = nullptr;
        --size_;
    }

  private:
    Chunk* first_ = nullptr;
    Chunk* last_ = nullptr;
    std::size_t size_ = 0;
};

} // namespace assay::tier
