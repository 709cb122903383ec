#include "tier/huge.hpp"

#include "tier/lifted.hpp"
#include "tier/sys.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cstdint>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 // Linux 6.1
#endif

namespace assay::tier {

namespace {

// Newer than the headers of Debian 12; include/uapi/linux/fs.h of Linux 6.7. Names of our own, for newer
// headers have these as macros and structures.
struct PageRegion {
    std::uint64_t start, end, categories;
};
struct ScanArguments {
    std::uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages, category_inverted,
        category_mask, category_anyof_mask, return_mask;
};
constexpr std::uint64_t is_huge = 1U << 6U;
constexpr unsigned long pagemap_scan = _IOWR('f', 16, ScanArguments);

constexpr std::size_t longest_pause = 1024;

} // namespace

Huge::Huge() : pagemap_(lifted(Fd(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)))) {}

bool Huge::is_one(std::byte* at) const {
    PageRegion found{};
    const auto from = reinterpret_cast<std::uint64_t>(at);
    ScanArguments asked{.size = sizeof asked,
                        .flags = 0,
                        .start = from,
                        .end = from + page,
                        .walk_end = 0,
                        .vec = reinterpret_cast<std::uint64_t>(&found),
                        .vec_len = 1,
                        .max_pages = 0,
                        .category_inverted = 0,
                        .category_mask = is_huge,
                        .category_anyof_mask = 0,
                        .return_mask = is_huge};
    return ::ioctl(pagemap_.get(), pagemap_scan, &asked) > 0;
}

void Huge::keep(std::byte* at, std::size_t bytes) {
    for (std::size_t done = 0; done + huge_page <= bytes; done += huge_page) {
        if (is_one(at + done)) continue;
        if (paused_ > 0) {
            --paused_;
            continue;
        }
        const bool made = sys::advise(at + done, huge_page, MADV_COLLAPSE) == 0;
        pause_ = made ? 0 : std::clamp(2 * pause_, std::size_t{1}, longest_pause);
        paused_ = pause_;
    }
}

void Huge::clear(std::byte* at, std::size_t bytes) {
    if (bytes >= huge_page) sys::advise(at, bytes, MADV_DONTNEED);
}

} // namespace assay::tier
