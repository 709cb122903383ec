#pragma once

#include "tier/base/pagemap_reader.hpp"
#include "tier/base/table.hpp"
#include "tier/fault/userfault.hpp"
#include "tier/numa/placement.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace assay::tier {

/// Allocator of frames: memory for chunks of one size while they are not mapped.
///
/// A frame is a slot with pages. The pages leave the slot when the chunk is mapped into its region, and enter
/// another slot when it is unmapped.
///
/// With MapMethod::move no memory is allocated, zeroed or copied. Two kinds of slots exist: the kernel
/// populates plain slots at the first access, and pages can be moved only into slots that are registered with
/// userfaultfd. The pager never accesses an empty registered slot, because it would wait for itself. With
/// MapMethod::copy all slots are plain.
///
/// Free frames are listed by the NUMA node of their pages.
class FrameAllocator {
  public:
    /// \param bytes size of a frame. \param max maximum number of frames.
    /// \throws std::bad_alloc, std::system_error.
    FrameAllocator(MapMethod map_method, std::size_t bytes, std::size_t max, Placement& placement);
    FrameAllocator(const FrameAllocator&) = delete;
    FrameAllocator& operator=(const FrameAllocator&) = delete;
    ~FrameAllocator();

    /// Take a free frame of a node, with arbitrary content; null if there is none.
    [[nodiscard]] std::byte* take(Node node) { return pop(free_[index(node)]); }
    /// Take a free frame of the node with the most of them.
    [[nodiscard]] std::byte* take() { return pop(*std::ranges::max_element(free_, {}, &Free::size)); }
    /// Create a frame of zeros, on a node if it has free memory.
    [[nodiscard]] std::byte* create(Node node);
    /// Destroy a free frame. \returns false if there is none.
    bool destroy();
    /// Free a frame.
    void free(std::byte* frame) { free_[index(placement_.of(frame))].add(frame); }
    /// Move the content of a frame, from an offset on, into its region.
    [[nodiscard]] Userfault::Moved map_into(const Userfault& regions, std::byte* to, std::byte* frame,
                                            std::size_t from) const;
    /// Release the slot of a frame after all of its content was mapped.
    void on_mapped(std::byte* frame);
    /// Free the pages of a frame and release its slot.
    void release_pages(std::byte* frame);
    /// Prefer the node of a frame for new pages.
    [[nodiscard]] Placement::Preference prefer_node_of(const std::byte* frame) const {
        return placement_.prefer(placement_.of(frame));
    }

    /// Slot with pages of a region, possibly incomplete.
    struct TakenPages {
        std::byte* place = nullptr;
        Userfault::Moved moved;
    };
    /// Take the pages of a chunk from its region; missing pages become zeros.
    [[nodiscard]] TakenPages take_pages(std::byte* from);
    /// Release an empty slot.
    void free_slot(std::byte* place);

    [[nodiscard]] std::size_t free_bytes() const {
        std::size_t count = 0;
        for (const auto& on_node : free_) count += on_node.size();
        return count * frame_bytes_;
    }

  private:
    /// Free list of consecutive slots.
    class SlotPool {
      public:
        SlotPool(std::byte* from, std::size_t count, std::size_t bytes)
            : next_(from), end_(from + count * bytes), bytes_(bytes), back_(count) {}
        [[nodiscard]] bool empty() const { return back_.empty() && next_ == end_; }
        [[nodiscard]] std::byte* take() {
            return back_.empty() ? std::exchange(next_, next_ + bytes_) : back_.take_last();
        }
        void put(std::byte* place) { back_.add(place); }

      private:
        std::byte *next_, *end_; ///< Slots from here on were never used.
        std::size_t bytes_;
        Table<std::byte*> back_;
    };

    using Free = Table<std::byte*>;
    [[nodiscard]] static std::byte* pop(Free& from) { return from.empty() ? nullptr : from.take_last(); }
    void prepare(std::byte* places, std::size_t bytes) const;
    [[nodiscard]] Userfault::Moved take_by_move(std::byte* place, std::byte* from) const;
    [[nodiscard]] TakenPages take_by_remap(std::byte* from);
    [[nodiscard]] int fill_holes(std::byte* frame) const;
    [[nodiscard]] bool is_registered(const std::byte* place) const { return place >= registered_area_; }

    std::size_t frame_bytes_;
    Placement& placement_;
    /// Only with MapMethod::move. A separate descriptor without events, because changes to slots concern no
    /// other code.
    std::optional<Userfault> fault_;
    PagemapReader pagemap_;
    std::byte* area_ = nullptr;            ///< Plain slots, followed by registered ones.
    std::byte* registered_area_ = nullptr; ///< End of the slots if none is registered.
    std::size_t area_bytes_ = 0;
    std::byte* zeros_ = nullptr;
    std::vector<Free> free_; ///< Free frames for each node.
    std::optional<SlotPool> plain_, registered_;
};

} // namespace assay::tier
