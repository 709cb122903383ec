// build: -O2 -march=x86-64-v3
#include "kernels/deflate/two.hpp"

namespace assay::kernels {

namespace {

void run(const Chunks& w) {
    for (std::size_t i = 0; i < w.count; i += 2) inflate_pair(w, i);
}

constexpr Variant<Chunks> two_v3{
    .id = "inflate-two",
    .parent = "inflate-pairs-bmi2",
    .why = "two streams in turn: one goes on while the other waits for its next symbol",
    .isa = Isa::v3,
    .broken = false,
    .run = run,
    .missing = only_inflates,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(two_v3);

} // namespace assay::kernels
