// build: -O2
#include "kernels/latency/work.hpp"

namespace assay::kernels {

namespace {

void run(const Chase& work) {
    for (std::size_t walk = 0; walk < walks; ++walk) {
        std::uint64_t at = walk % work.lines * line_elements;
        for (std::size_t i = 1; i < work.lines; ++i) at = work.next[at];
        work.end[walk] = at;
    }
}

constexpr Variant<Chase> variant{
    .id = "broken-short",
    .parent = "chase",
    .why = "wrong on purpose: one step is left out",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
