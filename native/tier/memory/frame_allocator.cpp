#include "tier/memory/frame_allocator.hpp"

#include "tier/fault/huge_pages.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <span>
#include <system_error>

namespace assay::tier {

FrameAllocator::FrameAllocator(MapMethod map_method, std::size_t bytes, std::size_t max, Placement& placement)
    : frame_bytes_(bytes), placement_(placement) {
    for (std::size_t i = 0; i < placement_.nodes().size(); ++i) free_.emplace_back(2 * max);
    const std::size_t alignment = bytes > huge_page ? bytes : huge_page;
    const std::size_t half = (max * bytes + huge_page - 1) / huge_page * huge_page;
    area_bytes_ = 2 * half + alignment + page;
    area_ = sys::map(area_bytes_);
    if (area_ == nullptr) throw std::bad_alloc();
    std::byte* const first = aligned(area_, alignment);
    registered_area_ = zeros_ = first + 2 * half;
    prepare(first, 2 * half);
    sys::advise(zeros_, page, MADV_DONTFORK);
    if (map_method == MapMethod::move) {
        registered_area_ = first + half;
        fault_.emplace(UFFD_FEATURE_MOVE);
        if (const int error = fault_->register_range(registered_area_, half); error != 0)
            throw std::system_error(error, std::generic_category(), "userfaultfd on frames");
    }
    plain_.emplace(first, fault_ ? max : 2 * max, bytes);
    registered_.emplace(registered_area_, fault_ ? max : 0, bytes);
}

void FrameAllocator::prepare(std::byte* places, std::size_t bytes) const {
    sys::size_pages(places, bytes, frame_bytes_);
    sys::advise(places, bytes, MADV_DONTFORK);
}

FrameAllocator::~FrameAllocator() {
    if (area_ != nullptr) sys::unmap(area_, area_bytes_);
}

std::byte* FrameAllocator::create(Node node) {
    std::byte* const frame = plain_->take();
    const auto preference = placement_.prefer(node);
    // Written, because populating by madvise(2) needs Linux 5.14.
    for (std::size_t at = 0; at < frame_bytes_; at += page)
        *reinterpret_cast<volatile std::byte*>(frame + at) = std::byte{0};
    placement_.on_allocated(node, frame, frame_bytes_);
    return frame;
}

bool FrameAllocator::destroy() {
    std::byte* const frame = take();
    if (frame == nullptr) return false;
    placement_.on_freed(frame, frame_bytes_);
    release_pages(frame);
    return true;
}

void FrameAllocator::free_slot(std::byte* place) {
    (is_registered(place) ? registered_ : plain_)->put(place);
}

Userfault::Moved FrameAllocator::map_into(const Userfault& regions, std::byte* to, std::byte* frame,
                                          std::size_t from) const {
    const std::size_t rest = frame_bytes_ - from;
    if (fault_) return regions.move(to + from, frame + from, rest);
    const auto preference = prefer_node_of(frame);
    return regions.copy(to + from, frame + from, rest);
}

void FrameAllocator::on_mapped(std::byte* frame) {
    if (fault_)
        free_slot(frame);
    else
        release_pages(frame);
}

void FrameAllocator::release_pages(std::byte* frame) {
    if (fault_) {
        sys::advise(frame, frame_bytes_, MADV_DONTNEED);
    } else {
        // Remapped pages form a separate mapping, and vm.max_map_count limits their number. A new mapping
        // merges with its neighbours.
        constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
        if (sys::map(frame, frame_bytes_, PROT_READ | PROT_WRITE, flags) == nullptr)
            sys::advise(frame, frame_bytes_, MADV_DONTNEED);
        prepare(frame, frame_bytes_);
    }
    free_slot(frame);
}

FrameAllocator::TakenPages FrameAllocator::take_pages(std::byte* from) {
    if (!fault_) return take_by_remap(from);
    std::byte* const place = registered_->take();
    HugePageKeeper::free_page_table(place, frame_bytes_);
    return {place, take_by_move(place, from)};
}

Userfault::Moved FrameAllocator::take_by_move(std::byte* place, std::byte* from) const {
    const Userfault::Moved moved = fault_->move(place, from, frame_bytes_);
    if (moved.error != ENOENT) return moved;
    const std::size_t rest = frame_bytes_ - moved.bytes;
    const Userfault::Moved more = fault_->move(place + moved.bytes, from + moved.bytes, rest, true);
    if (more.error != 0) return {more.error, moved.bytes + more.bytes};
    return {fill_holes(place), frame_bytes_};
}

FrameAllocator::TakenPages FrameAllocator::take_by_remap(std::byte* from) {
    if (plain_->empty()) return {nullptr, {ENOMEM, 0}};
    std::byte* const place = plain_->take();
    const int error = sys::move_pages(place, from, frame_bytes_);
    if (error == 0) {
        // The pages kept their protection.
        sys::protect(place, frame_bytes_, PROT_READ | PROT_WRITE);
        return {place, {0, frame_bytes_}};
    }
    // If the address is unmapped, another thread may already have mapped it; then it no longer belongs to
    // this allocator.
    constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    if (sys::map(place, frame_bytes_, PROT_READ | PROT_WRITE, flags) == place) {
        prepare(place, frame_bytes_);
        plain_->put(place);
    }
    return {nullptr, {error, 0}};
}

int FrameAllocator::fill_holes(std::byte* frame) const {
    const auto preference = prefer_node_of(frame);
    std::array<std::uint64_t, 512> entries{};
    for (std::size_t from = 0; from < frame_bytes_; from += entries.size() * page) {
        const std::span<std::uint64_t> some(entries.data(),
                                            std::min((frame_bytes_ - from) / page, entries.size()));
        if (const int error = pagemap_.read(frame + from, some); error != 0) return error;
        for (std::size_t i = 0; i < some.size(); ++i) {
            if (PagemapReader::is_populated(some[i])) continue;
            const Userfault::Moved filled = fault_->copy(frame + from + i * page, zeros_, page);
            if (filled.error != 0) return filled.error;
        }
    }
    return 0;
}

} // namespace assay::tier
