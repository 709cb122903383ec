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

/// Memory that chunks of one size are brought to, wherever its pages are mapped just now.
///
/// A frame is a place of one chunk with pages. Pages leave it when its chunk is mapped in its region, and
/// come to another place when one is taken away.
///
/// Where pages move, nothing is allocated, zeroed or copied meanwhile, and there are two kinds of places: the
/// kernel gives new pages to those that it answers for itself, and pages can be moved only to those that are
/// watched. A watched place without pages is never touched: the pager would wait for itself. Where they are
/// copied, all places are of the first kind.
///
/// What is free is told apart by the NUMA node that its pages lie on.
class FrameAllocator {
  public:
    /// \param bytes of a frame. \param most frames that there may ever be at a time.
    /// \throws std::bad_alloc, std::system_error.
    FrameAllocator(MapMethod map_method, std::size_t bytes, std::size_t max, Placement& placement);
    FrameAllocator(const FrameAllocator&) = delete;
    FrameAllocator& operator=(const FrameAllocator&) = delete;
    ~FrameAllocator();

    /// A frame that is free, whatever it holds, on a node, or null.
    [[nodiscard]] std::byte* take(Node node) { return pop(free_[index(node)]); }
    /// The same on any, of which there are most.
    [[nodiscard]] std::byte* take() { return pop(*std::ranges::max_element(free_, {}, &Free::size)); }
    /// One more, of zeros, on a node where it has room.
    [[nodiscard]] std::byte* create(Node node);
    /// One less, of those that are free. \returns false where none is.
    bool destroy();
    /// Its content is not needed any more.
    void free(std::byte* frame) { free_[index(placement_.of(frame))].add(frame); }
    /// What a frame holds, from some byte on, to where it belongs in a region.
    [[nodiscard]] Userfault::Moved map_into(const Userfault& regions, std::byte* to, std::byte* frame,
                                            std::size_t from) const;
    /// All of it was sent.
    void on_mapped(std::byte* frame);
    /// Gives a frame's pages back to the kernel, and keeps the place.
    void release_pages(std::byte* frame);
    /// New pages come from where those of a frame lie.
    [[nodiscard]] Placement::Preference prefer_node_of(const std::byte* frame) const {
        return placement_.prefer(placement_.of(frame));
    }

    /// Pages of a region that came back, or some of them, in a place that is not a frame then.
    struct TakenPages {
        std::byte* place = nullptr;
        Userfault::Moved moved;
    };
    /// The pages of a chunk in a region to a place; those that are missing are zeros there.
    [[nodiscard]] TakenPages take_pages(std::byte* from);
    /// What came back has gone again.
    void free_slot(std::byte* place);

    [[nodiscard]] std::size_t free_bytes() const {
        std::size_t count = 0;
        for (const auto& on_node : free_) count += on_node.size();
        return count * frame_bytes_;
    }

  private:
    /// Places one after the other, each of which is taken and comes back.
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
        std::byte *next_, *end_; ///< Those from here on were never taken.
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
    /// Where pages move; of its own, without events: what happens to places is nobody's news.
    std::optional<Userfault> fault_;
    PagemapReader pagemap_;
    std::byte* area_ = nullptr; ///< Places: first those of the kernel, then those that are watched.
    std::byte* registered_area_ = nullptr; ///< The end of them, where none is.
    std::size_t area_bytes_ = 0;
    std::byte* zeros_ = nullptr;
    std::vector<Free> free_; ///< By node.
    std::optional<SlotPool> plain_, registered_;
};

} // namespace assay::tier
