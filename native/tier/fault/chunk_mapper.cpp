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

constexpr std::size_t most_messages = 1 << 16;
constexpr int patience = 1000; ///< Tries of what may be possible in a moment.

/// \throws std::runtime_error where there is none of it.
std::uint64_t features_for(Exchange exchange) {
    // What lies on storage may turn out to be lost, and is poisoned then; where that cannot be (before Linux
    // 6.6), the program ends.
    const std::uint64_t poison = Userfault::offer().features & UFFD_FEATURE_POISON;
    const std::uint64_t common = UFFD_FEATURE_THREAD_ID | UFFD_FEATURE_EVENT_UNMAP | poison;
    if (exchange == Exchange::move) return common | UFFD_FEATURE_MOVE | UFFD_FEATURE_EVENT_REMAP;
    if (!Userfault::can_leave())
        throw std::runtime_error(
            "this kernel cannot take pages away from a place that stays (mremap, MREMAP_DONTUNMAP): use "
            "Linux 5.7 or newer, 6.8 for the best");
    // The pager's own mremap(2) would be an event that it had to read itself.
    return common;
}

} // namespace

Mapping::Mapping(Exchange exchange)
    : fault_(features_for(exchange)), zeros_(sys::map(page)), messages_(most_messages) {
    if (zeros_ == nullptr) throw std::bad_alloc();
    if (exchange == Exchange::move) huge_.emplace();
}

Mapping::~Mapping() {
    sys::unmap(zeros_, page);
}

void Mapping::read() {
    std::array<uffd_msg, 16> room{};
    while (messages_.size() + room.size() <= most_messages) {
        const std::span<uffd_msg> some = fault_.read(room);
        if (some.empty()) return;
        for (const uffd_msg& message : some) messages_.add(message);
    }
}

bool Mapping::next(uffd_msg& message) {
    if (handled_ == messages_.size()) {
        messages_.fill(0);
        handled_ = 0;
        return false;
    }
    message = messages_[handled_++];
    return true;
}

Mapping::Put Mapping::put(Chunk& chunk, Frames& frames) {
    std::size_t done = 0;
    // Pages may be pinned for a moment after a transfer into them has ended.
    for (int i = 0; i < patience && done < chunk.bytes(); ++i) {
        const Userfault::Moved moved = frames.send(fault_, chunk.at, chunk.frame, done);
        done += moved.bytes;
        if (moved.error == EAGAIN && done == 0) return Put::later;
        if (moved.error != 0 && moved.error != EBUSY) break;
        if (moved.error == EBUSY) ::sched_yield();
    }
    if (done < chunk.bytes()) return put_by_pages(chunk, frames, done);
    frames.sent(chunk.frame);
    grown(chunk);
    return Put::done;
}

/// Page by page and by copying, for what the kernel does not move: pages that stay pinned, and places of
/// which parts are unmapped or protected. What is not mapped any more is left out.
///
/// \param done bytes that were moved.
Mapping::Put Mapping::put_by_pages(Chunk& chunk, Frames& frames, std::size_t done) {
    const auto preference = frames.like(chunk.frame);
    const bool any = copy_pages(chunk.at, chunk.frame, done, chunk.bytes()) || done > 0;
    frames.drop(chunk.frame);
    fault_.wake(chunk.at, chunk.bytes());
    return any ? Put::done : Put::nothing;
}

bool Mapping::copy_pages(std::byte* to, const std::byte* from, std::size_t first, std::size_t last) {
    bool any = false;
    int tries = 0;
    for (std::size_t at = first; at < last;) {
        const int error = fault_.copy(to + at, from + at, page).error;
        if (error == EAGAIN) {
            let_event_end();
        } else if (error == ENOMEM && ++tries < patience) {
            ::sched_yield();
        } else {
            // Of what is not mapped any more nobody asks.
            if (error != 0 && error != EEXIST && error != ENOENT)
                give_up({"what the program touches could not be put into its memory (",
                         ::strerrorname_np(error), ")"});
            any = any || error != ENOENT;
            at += page;
        }
    }
    return any;
}

void Mapping::let_event_end() {
    read();
    ::sched_yield();
}

Mapping::Taken Mapping::take(Chunk& chunk, Frames& frames) {
    const auto [place, moved] = frames.bring_back(chunk.at);
    if (moved.error == 0) {
        chunk.frame = place;
        return Taken::done;
    }
    if (place != nullptr) {
        if (put_back(chunk.at, place, moved.bytes))
            frames.emptied(place);
        else
            frames.drop(place);
    }
    const bool later = moved.error == EBUSY || moved.error == EAGAIN || moved.error == ENOMEM;
    return later ? Taken::later : Taken::never;
}

bool Mapping::put_back(std::byte* to, std::byte* place, std::size_t bytes) {
    for (std::size_t done = 0; done < bytes;) {
        const Userfault::Moved back = fault_.move(to + done, place + done, bytes - done, true);
        done += back.bytes;
        if (back.error == EAGAIN) {
            let_event_end();
        } else if (back.error == EBUSY) {
            ::sched_yield();
        } else if (back.error != 0) {
            // Some of it was unmapped or protected meanwhile.
            copy_pages(to, place, done, bytes);
            return false;
        }
    }
    return true;
}

void Mapping::fill(std::byte* at) {
    if (fault_.copy(at, zeros_, page).error != 0) fault_.wake(at, page);
}

void Mapping::lose(const Chunk& chunk) {
    for (std::size_t done = 0; done < chunk.bytes();) {
        const Userfault::Moved lost = fault_.poison(chunk.at + done, chunk.bytes() - done);
        done += lost.bytes;
        if (lost.error == EAGAIN)
            let_event_end();
        else if (lost.error == ENOENT)
            done += page; // It is not mapped any more.
        else if (lost.error != 0)
            give_up({"what could not be read could not be marked as lost (", ::strerrorname_np(lost.error),
                     "), so the program ends here"});
    }
}

} // namespace assay::tier
