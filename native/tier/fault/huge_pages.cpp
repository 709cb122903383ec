#include "tier/fault/huge_pages.hpp"

#include "tier/base/sys.hpp"

#include <algorithm>

namespace assay::tier {

namespace {

constexpr std::size_t longest_pause = 1024;

} // namespace

void Huge::keep(std::byte* at, std::size_t bytes) {
    for (std::size_t done = 0; done + huge_page <= bytes; done += huge_page) {
        if (present_.is_huge(at + done)) continue;
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
