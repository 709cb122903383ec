#include "tier/memory/frame_allocator.hpp"

#include "tier/fault/huge_pages.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <span>
#include <system_error>

namespace assay::tier {

Frames::Frames(Exchange exchange, std::size_t bytes, std::size_t most, Placement& placement)
    : frame_(bytes), placement_(placement) {
    for (std::size_t i = 0; i < placement_.nodes().size(); ++i) free_.emplace_back(2 * most);
    const std::size_t alignment = bytes > huge_page ? bytes : huge_page;
    const std::size_t half = (most * bytes + huge_page - 1) / huge_page * huge_page;
    area_bytes_ = 2 * half + alignment + page;
    area_ = sys::map(area_bytes_);
    if (area_ == nullptr) throw std::bad_alloc();
    std::byte* const first = aligned(area_, alignment);
    watched_area_ = zeros_ = first + 2 * half;
    prepare(first, 2 * half);
    sys::advise(zeros_, page, MADV_DONTFORK);
    if (exchange == Exchange::move) {
        watched_area_ = first + half;
        fault_.emplace(UFFD_FEATURE_MOVE);
        if (const int error = fault_->watch(watched_area_, half); error != 0)
            throw std::system_error(error, std::generic_category(), "userfaultfd on frames");
    }
    plain_.emplace(first, fault_ ? most : 2 * most, bytes);
    watched_.emplace(watched_area_, fault_ ? most : 0, bytes);
}

void Frames::prepare(std::byte* places, std::size_t bytes) const {
    sys::size_pages(places, bytes, frame_);
    sys::advise(places, bytes, MADV_DONTFORK);
}

Frames::~Frames() {
    if (area_ != nullptr) sys::unmap(area_, area_bytes_);
}

std::byte* Frames::make(Node node) {
    std::byte* const frame = plain_->take();
    const auto preference = placement_.prefer(node);
    // Written, not populated by madvise(2): that would need Linux 5.14.
    for (std::size_t at = 0; at < frame_; at += page)
        *reinterpret_cast<volatile std::byte*>(frame + at) = std::byte{0};
    placement_.came(node, frame, frame_);
    return frame;
}

bool Frames::unmake() {
    std::byte* const frame = take();
    if (frame == nullptr) return false;
    placement_.goes(frame, frame_);
    drop(frame);
    return true;
}

void Frames::emptied(std::byte* place) {
    (is_watched(place) ? watched_ : plain_)->put(place);
}

Userfault::Moved Frames::send(const Userfault& regions, std::byte* to, std::byte* frame,
                              std::size_t from) const {
    const std::size_t rest = frame_ - from;
    if (fault_) return regions.move(to + from, frame + from, rest);
    const auto preference = like(frame);
    return regions.copy(to + from, frame + from, rest);
}

void Frames::sent(std::byte* frame) {
    if (fault_)
        emptied(frame);
    else
        drop(frame);
}

void Frames::drop(std::byte* frame) {
    if (fault_) {
        sys::advise(frame, frame_, MADV_DONTNEED);
    } else {
        // What left a region is a mapping of its own, as many of which a process may have as
        // vm.max_map_count says; a new one is one with its neighbours.
        constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
        if (sys::map(frame, frame_, PROT_READ | PROT_WRITE, flags) == nullptr)
            sys::advise(frame, frame_, MADV_DONTNEED);
        prepare(frame, frame_);
    }
    emptied(frame);
}

Frames::Back Frames::bring_back(std::byte* from) {
    if (!fault_) return leave(from);
    std::byte* const place = watched_->take();
    Huge::clear(place, frame_);
    return {place, move_back(place, from)};
}

Userfault::Moved Frames::move_back(std::byte* place, std::byte* from) const {
    const Userfault::Moved moved = fault_->move(place, from, frame_);
    if (moved.error != ENOENT) return moved;
    const std::size_t rest = frame_ - moved.bytes;
    const Userfault::Moved more = fault_->move(place + moved.bytes, from + moved.bytes, rest, true);
    if (more.error != 0) return {more.error, moved.bytes + more.bytes};
    return {fill_holes(place), frame_};
}

Frames::Back Frames::leave(std::byte* from) {
    if (plain_->empty()) return {nullptr, {ENOMEM, 0}};
    std::byte* const place = plain_->take();
    const int error = sys::leave(place, from, frame_);
    if (error == 0) {
        // It has brought its protection with it.
        sys::protect(place, frame_, PROT_READ | PROT_WRITE);
        return {place, {0, frame_}};
    }
    // Perhaps nothing is mapped there any more, and another thread's mapping may already have come instead:
    // then it is not ours any more.
    constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    if (sys::map(place, frame_, PROT_READ | PROT_WRITE, flags) == place) {
        prepare(place, frame_);
        plain_->put(place);
    }
    return {nullptr, {error, 0}};
}

int Frames::fill_holes(std::byte* frame) const {
    const auto preference = like(frame);
    std::array<std::uint64_t, 512> entries{};
    for (std::size_t from = 0; from < frame_; from += entries.size() * page) {
        const std::span<std::uint64_t> some(entries.data(), std::min((frame_ - from) / page, entries.size()));
        if (const int error = present_.read(frame + from, some); error != 0) return error;
        for (std::size_t i = 0; i < some.size(); ++i) {
            if (Present::is_there(some[i])) continue;
            const Userfault::Moved filled = fault_->copy(frame + from + i * page, zeros_, page);
            if (filled.error != 0) return filled.error;
        }
    }
    return 0;
}

} // namespace assay::tier
