// build: -O3
#include "kernels/traversal/visit.hpp"

#include <sys/mman.h>

#include <cstdint>

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21 // Linux 5.4
#endif

namespace assay::kernels {

namespace {

constexpr std::size_t step = words_of(std::size_t{8} << 20U);

/// Give advice on the whole pages in a range of words.
void tell(const Words& work, std::size_t first, std::size_t last, int advice) {
    constexpr std::uintptr_t page = 4096;
    last = last < work.count ? last : work.count;
    if (first >= last) return;
    const auto from = (reinterpret_cast<std::uintptr_t>(work.data + first) + page - 1) / page * page;
    const auto to = reinterpret_cast<std::uintptr_t>(work.data + last) / page * page;
    // A failure is ignored: without the advice, this variant is slow, but not wrong.
    if (from < to) static_cast<void>(::madvise(reinterpret_cast<void*>(from), to - from, advice)); // NOLINT
}

void run(const Words& work) {
    std::uint64_t sum = 0;
    for (std::size_t first = 0; first < work.count; first += step) {
        tell(work, first + step, first + 2 * step, MADV_WILLNEED);
        sum += visit(work, first, first + step < work.count ? first + step : work.count);
        tell(work, first, first + step, MADV_PAGEOUT);
    }
    *work.sum = sum;
}

constexpr Variant<Words> variant{
    .id = "advised",
    .parent = "forward",
    .why = "advises the kernel of upcoming accesses 8 MiB ahead (MADV_WILLNEED), and of finished ones "
           "(MADV_PAGEOUT)",
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
