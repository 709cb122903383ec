// build: -O2
#include "kernels/latency/work.hpp"

namespace assay::kernels {

namespace {

void run(const Chase& work) {
    for (std::size_t walk = 0; walk < walks; ++walk) {
        std::uint64_t at = walk % work.lines * line_elements;
        for (std::size_t i = 0; i < work.lines; ++i) at = work.next[at];
        work.end[walk] = at;
    }
}

constexpr Variant<Chase> variant{
    .id = "chase",
    .parent = "",
    .why = "eight walks one after another: each access waits for the previous one",
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
