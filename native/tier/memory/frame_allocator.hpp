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
class Frames {
  public:
    /// \param bytes of a frame. \param most frames that there may ever be at a time.
    /// \throws std::bad_alloc, std::system_error.
    Frames(Exchange exchange, std::size_t bytes, std::size_t most, Placement& placement);
    Frames(const Frames&) = delete;
    Frames& operator=(const Frames&) = delete;
    ~Frames();

    /// A frame that is free, whatever it holds, on a node, or null.
    [[nodiscard]] std::byte* take(Node node) { return taken(free_[index(node)]); }
    /// The same on any, of which there are most.
    [[nodiscard]] std::byte* take() { return taken(*std::ranges::max_element(free_, {}, &Free::size)); }
    /// One more, of zeros, on a node where it has room.
    [[nodiscard]] std::byte* make(Node node);
    /// One less, of those that are free. \returns false where none is.
    bool unmake();
    /// Its content is not needed any more.
    void give(std::byte* frame) { free_[index(placement_.of(frame))].add(frame); }
    /// What a frame holds, from some byte on, to where it belongs in a region.
    [[nodiscard]] Userfault::Moved send(const Userfault& regions, std::byte* to, std::byte* frame,
                                        std::size_t from) const;
    /// All of it was sent.
    void sent(std::byte* frame);
    /// Gives a frame's pages back to the kernel, and keeps the place.
    void drop(std::byte* frame);
    /// New pages come from where those of a frame lie.
    [[nodiscard]] Placement::Preference like(const std::byte* frame) const {
        return placement_.prefer(placement_.of(frame));
    }

    /// Pages of a region that came back, or some of them, in a place that is not a frame then.
    struct Back {
        std::byte* place = nullptr;
        Userfault::Moved moved;
    };
    /// The pages of a chunk in a region to a place; those that are missing are zeros there.
    [[nodiscard]] Back bring_back(std::byte* from);
    /// What came back has gone again.
    void emptied(std::byte* place);

    [[nodiscard]] std::size_t free_bytes() const {
        std::size_t count = 0;
        for (const auto& on_node : free_) count += on_node.size();
        return count * frame_;
    }

  private:
    /// Places one after the other, each of which is taken and comes back.
    class Places {
      public:
        Places(std::byte* from, std::size_t count, std::size_t bytes)
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
    [[nodiscard]] static std::byte* taken(Free& from) { return from.empty() ? nullptr : from.take_last(); }
    void prepare(std::byte* places, std::size_t bytes) const;
    [[nodiscard]] Userfault::Moved move_back(std::byte* place, std::byte* from) const;
    [[nodiscard]] Back leave(std::byte* from);
    [[nodiscard]] int fill_holes(std::byte* frame) const;
    [[nodiscard]] bool is_watched(const std::byte* place) const { return place >= watched_area_; }

    std::size_t frame_;
    Placement& placement_;
    /// Where pages move; of its own, without events: what happens to places is nobody's news.
    std::optional<Userfault> fault_;
    Present present_;
    std::byte* area_ = nullptr;         ///< Places: first those of the kernel, then those that are watched.
    std::byte* watched_area_ = nullptr; ///< The end of them, where none is.
    std::size_t area_bytes_ = 0;
    std::byte* zeros_ = nullptr;
    std::vector<Free> free_; ///< By node.
    std::optional<Places> plain_, watched_;
};

} // namespace assay::tier
