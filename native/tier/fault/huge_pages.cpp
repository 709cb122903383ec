#include "tier/fault/huge_pages.hpp"

#include "tier/base/sys.hpp"

#include <algorithm>

namespace assay::tier {

namespace {

constexpr std::size_t max_backoff = 1024;

} // namespace

void HugePageKeeper::restore(std::byte* at, std::size_t bytes) {
    for (std::size_t done = 0; done + huge_page <= bytes; done += huge_page) {
        if (pagemap_.is_huge(at + done)) continue;
        if (skipped_ > 0) {
            --skipped_;
            continue;
        }
        const bool made = sys::advise(at + done, huge_page, MADV_COLLAPSE) == 0;
        backoff_ = made ? 0 : std::clamp(2 * backoff_, std::size_t{1}, max_backoff);
        skipped_ = backoff_;
    }
}

void HugePageKeeper::free_page_table(std::byte* at, std::size_t bytes) {
    if (bytes >= huge_page) sys::advise(at, bytes, MADV_DONTNEED);
}

} // namespace assay::tier
