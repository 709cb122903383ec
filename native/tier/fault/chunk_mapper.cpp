#include "tier/fault/chunk_mapper.hpp"

#include "tier/base/messages.hpp"

#include <sched.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <span>
#include <stdexcept>

namespace assay::tier {

namespace {

constexpr std::size_t max_messages = 1 << 16;
constexpr int max_tries = 1000; ///< Attempts at operations that fail for a moment.

/// Return the userfaultfd features that a method needs. \throws std::runtime_error if they are missing.
std::uint64_t features_for(MapMethod map_method) {
    // A chunk that cannot be read is poisoned. Before Linux 6.6, without poisoning, the program is aborted.
    const std::uint64_t poison = Userfault::support().features & UFFD_FEATURE_POISON;
    const std::uint64_t common = UFFD_FEATURE_THREAD_ID | UFFD_FEATURE_EVENT_UNMAP | poison;
    if (map_method == MapMethod::move) return common | UFFD_FEATURE_MOVE | UFFD_FEATURE_EVENT_REMAP;
    if (!Userfault::can_move_pages())
        throw std::runtime_error("this kernel cannot move pages out of a mapping (mremap, MREMAP_DONTUNMAP): "
                                 "use Linux 5.7 or newer, best 6.8 or newer");
    // The pager's own mremap(2) would raise an event that it had to read itself.
    return common;
}

} // namespace

ChunkMapper::ChunkMapper(MapMethod map_method)
    : fault_(features_for(map_method)), zeros_(sys::map(page)), messages_(max_messages) {
    if (zeros_ == nullptr) throw std::bad_alloc();
    if (map_method == MapMethod::move) huge_pages_.emplace();
}

ChunkMapper::~ChunkMapper() {
    sys::unmap(zeros_, page);
}

void ChunkMapper::read_messages() {
    std::array<uffd_msg, 16> room{};
    while (messages_.size() + room.size() <= max_messages) {
        const std::span<uffd_msg> some = fault_.read(room);
        if (some.empty()) return;
        for (const uffd_msg& message : some) messages_.add(message);
    }
}

bool ChunkMapper::next_message(uffd_msg& message) {
    if (next_ == messages_.size()) {
        messages_.fill(0);
        next_ = 0;
        return false;
    }
    message = messages_[next_++];
    return true;
}

ChunkMapper::MapResult ChunkMapper::map(Chunk& chunk, FrameAllocator& frames) {
    std::size_t done = 0;
    // The kernel may hold page references for a moment after the end of a transfer.
    for (int i = 0; i < max_tries && done < chunk.bytes(); ++i) {
        const Userfault::Moved moved = frames.map_into(fault_, chunk.at, chunk.frame, done);
        done += moved.bytes;
        if (moved.error == EAGAIN && done == 0) return MapResult::retry;
        if (moved.error != 0 && moved.error != EBUSY) break;
        if (moved.error == EBUSY) ::sched_yield();
    }
    if (done < chunk.bytes()) return map_by_pages(chunk, frames, done);
    frames.on_mapped(chunk.frame);
    keep_huge(chunk);
    return MapResult::mapped;
}

/// Map a chunk by copying single pages, for pages that remain pinned, and for ranges with unmapped or
/// protected parts. Unmapped pages are skipped.
///
/// \param done bytes that were already mapped.
ChunkMapper::MapResult ChunkMapper::map_by_pages(Chunk& chunk, FrameAllocator& frames, std::size_t done) {
    const auto preference = frames.prefer_node_of(chunk.frame);
    const bool any = copy_pages(chunk.at, chunk.frame, done, chunk.bytes()) || done > 0;
    frames.release_pages(chunk.frame);
    fault_.wake(chunk.at, chunk.bytes());
    return any ? MapResult::mapped : MapResult::gone;
}

bool ChunkMapper::copy_pages(std::byte* to, const std::byte* from, std::size_t first, std::size_t last) {
    bool any = false;
    int tries = 0;
    for (std::size_t at = first; at < last;) {
        const int error = fault_.copy(to + at, from + at, page).error;
        if (error == EAGAIN) {
            drain_event();
        } else if (error == ENOMEM && ++tries < max_tries) {
            ::sched_yield();
        } else {
            // An unmapped page has no waiting threads.
            if (error != 0 && error != EEXIST && error != ENOENT)
                abort_with_message({"mapping a chunk failed (", ::strerrorname_np(error), ")"});
            any = any || error != ENOENT;
            at += page;
        }
    }
    return any;
}

void ChunkMapper::drain_event() {
    read_messages();
    ::sched_yield();
}

ChunkMapper::UnmapResult ChunkMapper::take_pages(Chunk& chunk, FrameAllocator& frames) {
    const auto [place, moved] = frames.take_pages(chunk.at);
    if (moved.error == 0) {
        chunk.frame = place;
        return UnmapResult::taken;
    }
    if (place != nullptr) {
        if (return_pages(chunk.at, place, moved.bytes))
            frames.free_slot(place);
        else
            frames.release_pages(place);
    }
    const bool later = moved.error == EBUSY || moved.error == EAGAIN || moved.error == ENOMEM;
    return later ? UnmapResult::busy : UnmapResult::unmovable;
}

bool ChunkMapper::return_pages(std::byte* to, std::byte* place, std::size_t bytes) {
    for (std::size_t done = 0; done < bytes;) {
        const Userfault::Moved back = fault_.move(to + done, place + done, bytes - done, true);
        done += back.bytes;
        if (back.error == EAGAIN) {
            drain_event();
        } else if (back.error == EBUSY) {
            ::sched_yield();
        } else if (back.error != 0) {
            // The program has unmapped or protected a part meanwhile.
            copy_pages(to, place, done, bytes);
            return false;
        }
    }
    return true;
}

void ChunkMapper::map_zero_page(std::byte* at) {
    if (fault_.copy(at, zeros_, page).error != 0) fault_.wake(at, page);
}

void ChunkMapper::poison(const Chunk& chunk) {
    for (std::size_t done = 0; done < chunk.bytes();) {
        const Userfault::Moved lost = fault_.poison(chunk.at + done, chunk.bytes() - done);
        done += lost.bytes;
        if (lost.error == EAGAIN)
            drain_event();
        else if (lost.error == ENOENT)
            done += page; // The page is no longer mapped.
        else if (lost.error != 0)
            abort_with_message({"marking an unreadable chunk as lost failed (", ::strerrorname_np(lost.error),
                                "), so the program is aborted"});
    }
}

} // namespace assay::tier
