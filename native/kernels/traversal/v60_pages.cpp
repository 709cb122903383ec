// build: -O3
#include "kernels/traversal/visit.hpp"

namespace assay::kernels {

namespace {

/// Visit each page once, in the order of a generator with full period, modulo the smallest power of two that
/// is not less than the number of pages (Hull and Dobell 1962).
void run(const Words& work) {
    constexpr std::size_t page = words_of(4096);
    const std::size_t pages = (work.count + page - 1) / page;
    std::size_t mask = 1;
    while (mask < pages) mask *= 2;
    --mask;
    std::uint64_t sum = 0;
    std::size_t state = 0;
    for (std::size_t i = 0; i <= mask; ++i) {
        state = (state * 0x5851f42d4c957f2dU + 0x14057b7ef767814fU) & mask;
        // The low bits of such a generator repeat soon. With the order of bits reversed, subsequent pages are
        // far from each other.
        std::size_t place = 0;
        for (std::size_t bit = mask, from = state; bit != 0; bit >>= 1U, from >>= 1U)
            place = (place << 1U) | (from & 1U);
        const std::size_t first = place * page;
        if (first >= work.count) continue;
        sum += visit(work, first, first + page < work.count ? first + page : work.count);
    }
    *work.sum = sum;
}

constexpr Variant<Words> variant{
    .id = "pages",
    .parent = "records",
    .why = "pages of 4 KiB, in random order",
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
