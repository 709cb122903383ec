#include "tier/frames.hpp"

#include "tier/lifted.hpp"

#include <fcntl.h>

#include <array>
#include <cerrno>
#include <new>
#include <system_error>

namespace assay::tier {

Frames::Frames(std::size_t bytes, std::size_t most)
    : frame_(bytes), most_(most), fault_(UFFD_FEATURE_MOVE),
      pagemap_(lifted(Fd(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)))), free_(2 * most), plain_(most),
      watched_(most) {
    const std::size_t alignment = bytes > huge_page ? bytes : huge_page;
    const std::size_t half = (most * bytes + huge_page - 1) / huge_page * huge_page;
    area_bytes_ = 2 * half + alignment + page;
    area_ = sys::map(area_bytes_);
    if (area_ == nullptr) throw std::bad_alloc();
    std::byte* const first = aligned(area_, alignment);
    watched_area_ = first + half;
    zeros_ = watched_area_ + half;
    sys::size_pages(first, 2 * half, bytes);
    sys::advise(area_, area_bytes_, MADV_DONTFORK);
    if (const int error = half == 0 ? 0 : fault_.watch(watched_area_, half); error != 0)
        throw std::system_error(error, std::generic_category(), "userfaultfd on frames");
    for (std::size_t i = most; i-- > 0;) {
        plain_.add(first + i * bytes);
        watched_.add(watched_area_ + i * bytes);
    }
}

Frames::~Frames() {
    if (area_ != nullptr) sys::unmap(area_, area_bytes_);
}

std::byte* Frames::take(bool& zero) {
    zero = false;
    if (!free_.empty()) return free_.take_last();
    if (made_ >= most_) return nullptr;
    ++made_;
    zero = true;
    std::byte* const frame = plain_.take_last();
    // Written, not populated by madvise(2): that would need Linux 5.14.
    for (std::size_t at = 0; at < frame_; at += page)
        *reinterpret_cast<volatile std::byte*>(frame + at) = std::byte{0};
    return frame;
}

void Frames::emptied(std::byte* place) {
    (is_watched(place) ? watched_ : plain_).add(place);
}

bool Frames::shed(std::size_t frames) {
    if (left() < frames) return false;
    most_ -= frames;
    for (; made_ > most_; --made_) drop(free_.take_last());
    return true;
}

void Frames::drop(std::byte* frame) {
    sys::advise(frame, frame_, MADV_DONTNEED);
    emptied(frame);
}

Userfault::Moved Frames::bring_back(std::byte* place, std::byte* from) const {
    const Userfault::Moved moved = fault_.move(place, from, frame_);
    if (moved.error != ENOENT) return moved;
    const std::size_t rest = frame_ - moved.bytes;
    const Userfault::Moved more = fault_.move(place + moved.bytes, from + moved.bytes, rest, true);
    if (more.error != 0) return {more.error, moved.bytes + more.bytes};
    return {fill_holes(place), frame_};
}

int Frames::fill_holes(std::byte* frame) const {
    // Documentation/admin-guide/mm/pagemap.rst: a number of 64 bits for each page; bit 63: present.
    constexpr std::uint64_t present = std::uint64_t{1} << 63U;
    std::array<std::uint64_t, 512> entries{};
    for (std::size_t from = 0; from < frame_; from += entries.size() * page) {
        const std::size_t pages =
            (frame_ - from) / page < entries.size() ? (frame_ - from) / page : entries.size();
        const std::uintptr_t at =
            reinterpret_cast<std::uintptr_t>(frame + from) / page * sizeof(std::uint64_t);
        const ssize_t got =
            ::pread(pagemap_.get(), entries.data(), pages * sizeof(std::uint64_t), static_cast<off_t>(at));
        if (got != static_cast<ssize_t>(pages * sizeof(std::uint64_t))) return errno;
        for (std::size_t i = 0; i < pages; ++i) {
            if ((entries[i] & present) != 0) continue;
            if (const int error = fault_.copy(frame + from + i * page, zeros_, page); error != 0)
                return error;
        }
    }
    return 0;
}

} // namespace assay::tier
