// build: -O2
#include "kernels/latency/work.hpp"

namespace assay::kernels {

namespace {

void run(const Chase& work) {
    std::uint64_t at[trips];
    for (std::size_t trip = 0; trip < trips; ++trip) at[trip] = trip % work.lines * line_elements;
    for (std::size_t i = 0; i < work.lines; ++i) {
#pragma GCC unroll 8
        for (std::size_t trip = 0; trip < trips; ++trip) at[trip] = work.next[at[trip]];
    }
    for (std::size_t trip = 0; trip < trips; ++trip) work.end[trip] = at[trip];
}

constexpr Variant<Chase> variant{
    .id = "side-by-side",
    .parent = "chase",
    .why = "the walks side by side: eight accesses are outstanding",
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
