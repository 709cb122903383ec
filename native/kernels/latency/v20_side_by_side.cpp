// build: -O2
#include "kernels/latency/work.hpp"

namespace assay::kernels {

namespace {

void run(const Chase& work) {
    std::uint64_t at[walks];
    for (std::size_t walk = 0; walk < walks; ++walk) at[walk] = walk % work.lines * line_elements;
    for (std::size_t i = 0; i < work.lines; ++i) {
#pragma GCC unroll 8
        for (std::size_t walk = 0; walk < walks; ++walk) at[walk] = work.next[at[walk]];
    }
    for (std::size_t walk = 0; walk < walks; ++walk) work.end[walk] = at[walk];
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
