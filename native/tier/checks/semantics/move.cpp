#include "tier/base/sys.hpp"
#include "tier/checks/semantics/area.hpp"
#include "tier/checks/semantics/registration.hpp"
#include "tier/checks/semantics/rows.hpp"

#include <poll.h>
#include <sys/ioctl.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <new>
#include <string>
#include <thread>
#include <vector>

// This definition of include/uapi/linux/userfaultfd.h (Linux 6.4) is newer than the headers of Debian 12
// (Linux 6.1).
#ifndef UFFD_FEATURE_WP_UNPOPULATED
#define UFFD_FEATURE_WP_UNPOPULATED (1 << 13)
#endif

namespace assay::tier::semantics {

namespace {

/// Return the huge pages of an area, in KiB. The borders of the area are borders of kernel mappings.
std::size_t huge_kib(const GuardedArea& area) {
    std::ifstream file("/proc/self/smaps");
    const auto begin = reinterpret_cast<std::uintptr_t>(area.at());
    bool within = false;
    std::size_t all = 0;
    for (std::string line; std::getline(file, line);) {
        unsigned long from = 0, to = 0, kib = 0;
        if (std::sscanf(line.c_str(), "%lx-%lx ", &from, &to) == 2)
            within = from >= begin && to <= begin + area.bytes();
        else if (within && std::sscanf(line.c_str(), "AnonHugePages: %lu kB", &kib) == 1)
            all += kib;
    }
    return all;
}

std::string kib_text(std::size_t kib) {
    return std::to_string(kib) + " KiB huge";
}

} // namespace

/// Moves are cheap only for huge pages.
void move_keeps_huge_pages(Seen& seen) {
    constexpr std::size_t chunks = 4, all = chunks * huge_page;
    const GuardedArea frames(all, MADV_HUGEPAGE), region(all, MADV_HUGEPAGE), back(all, MADV_HUGEPAGE);
    const Userfault fault = userfault(UFFD_FEATURE_MOVE);
    watch(fault, region);
    watch(fault, back);
    frames.fill();
    if (const std::size_t had = huge_kib(frames); had != all >> 10) {
        std::string when;
        std::getline(std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled"), when);
        throw Skipped("of " + std::to_string(all >> 10) + " KiB, only " + kib_text(had) +
                      " (transparent_hugepage/enabled: " + (when.empty() ? "none" : when) + ")");
    }
    const auto move = [&](const char* step, const GuardedArea& to, const GuardedArea& from) {
        int error = 0;
        for (std::size_t at = 0; at < all && error == 0; at += huge_page)
            error = fault.move(to.at() + at, from.at() + at, huge_page).error;
        seen.error(step, error, 0);
        seen.is("there", kib_text(huge_kib(to)), kib_text(all >> 10));
        seen.is("left behind", kib_text(huge_kib(from)), kib_text(0));
    };
    move("moved in", region, frames);
    move("moved out", back, region);
    if (seen.as_relied_on()) seen.byte("last byte", byte_at(back.at() + all - 1), written);
}

/// Write protection cannot detect changes: another thread may write between a move and the protection, and
/// the protection cannot come first.
void move_into_write_protected(Seen& seen) {
    const GuardedArea frame(page), region(2 * page);
    const Userfault fault =
        userfault(UFFD_FEATURE_MOVE | UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_WP_UNPOPULATED);
    const auto at = reinterpret_cast<std::uintptr_t>(region.at());
    uffdio_register watched{{at, 2 * page}, UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_WP, 0};
    uffdio_writeprotect guarded{{at, page}, UFFDIO_WRITEPROTECT_MODE_WP};
    if (::ioctl(fault.fd(), UFFDIO_REGISTER, &watched) != 0 ||
        ::ioctl(fault.fd(), UFFDIO_WRITEPROTECT, &guarded) != 0)
        throw Skipped(std::string("memory cannot be write-protected: ") + std::strerror(errno));
    frame.fill();
    seen.error("onto the protected page", fault.move(region.at(0), frame.at(), page).error, EEXIST);
    seen.error("onto the page beside it", fault.move(region.at(1), frame.at(), page).error, 0);
}

/// Memory that the program locks stays in place; the pager learns this from its attempt.
void move_between_locked_and_unlocked(Seen& seen) {
    const GuardedArea unlocked(page), locked(page), plain(page), also_locked(page);
    const Userfault fault = userfault(UFFD_FEATURE_MOVE);
    watch(fault, locked);
    watch(fault, plain);
    locked.lock();
    also_locked.lock();
    unlocked.fill();
    also_locked.fill();
    seen.error("unlocked to locked", error_of_move(fault, locked, unlocked), EINVAL);
    seen.error("locked to unlocked", error_of_move(fault, plain, also_locked), EINVAL);
    const int error = error_of_move(fault, locked, also_locked);
    seen.error("locked to locked", error, 0);
    // Pages that were not moved would raise faults that no thread resolves.
    if (error == 0) seen.byte("contents", byte_at(locked.at()), written);
}

/// Discarded pages of a chunk are missing: the kernel reports the pages moved before the first one, and the
/// pager moves the remainder with holes.
void move_of_missing_pages(Seen& seen) {
    const GuardedArea frame(3 * page), region(3 * page);
    const Userfault fault = userfault(UFFD_FEATURE_MOVE);
    watch(fault, region);
    write_byte(frame.at(0));
    write_byte(frame.at(2));
    const Userfault::Moved moved = fault.move(region.at(), frame.at(), 3 * page);
    seen.error("with the second of three missing", moved.error, ENOENT);
    seen.is("pages moved", std::to_string(moved.bytes / page), "1");
    const Userfault::Moved rest = fault.move(region.at(1), frame.at(1), 2 * page, true);
    seen.error("the rest, with holes", rest.error, 0);
    const std::vector<std::byte> some(page, answered);
    const auto copied = [&](std::size_t number) {
        return fault.copy(region.at(number), some.data(), page).error;
    };
    seen.error("copy over the first", copied(0), EEXIST);
    seen.error("copy into the hole", copied(1), 0);
    seen.error("copy over the third", copied(2), EEXIST);
}

/// Pages that the program protects stay in place.
void move_between_protections(Seen& seen) {
    const GuardedArea frame(page), region(page);
    const Userfault fault = userfault(UFFD_FEATURE_MOVE);
    watch(fault, region);
    frame.fill();
    region.protect(PROT_READ);
    seen.error("to what is read only", error_of_move(fault, region, frame), EINVAL);
    region.protect(PROT_READ | PROT_WRITE);
    frame.protect(PROT_READ);
    seen.error("from what is read only", error_of_move(fault, region, frame), EINVAL);
    frame.protect(PROT_READ | PROT_WRITE);
    seen.error("between what is written to", error_of_move(fault, region, frame), 0);
}

/// While an unmap event is unread, no move or copy succeeds: the pager reads its messages and retries.
void move_while_an_event_waits(Seen& seen) {
    const GuardedArea frame(page), region(2 * page);
    std::byte* const gone = sys::map(page);
    if (gone == nullptr) throw std::bad_alloc();
    const std::vector<std::byte> some(page, answered);
    const Userfault fault = userfault(UFFD_FEATURE_MOVE | UFFD_FEATURE_EVENT_UNMAP);
    watch(fault, region);
    watch(fault, gone, page);
    frame.fill();
    std::thread unmapping([gone] { sys::unmap(gone, page); });
    pollfd ready{fault.fd(), POLLIN, 0};
    seen.is("events", std::to_string(::poll(&ready, 1, 5000)), "1");
    seen.error("move before it is read", fault.move(region.at(0), frame.at(), page).error, EAGAIN);
    seen.error("copy before it is read", fault.copy(region.at(1), some.data(), page).error, EAGAIN);
    std::array<uffd_msg, 1> room{};
    static_cast<void>(fault.read(room));
    unmapping.join();
    seen.error("move after it was read", fault.move(region.at(0), frame.at(), page).error, 0);
    seen.error("copy after it was read", fault.copy(region.at(1), some.data(), page).error, 0);
}

} // namespace assay::tier::semantics
