// build: -O2
// for: avx2
#include "kernels/deflate/codec/two.hpp"

namespace assay::kernels {

namespace {

void run(const Chunks& w) {
    for (std::size_t i = 0; i < w.count; i += 2) inflate_pair(w, i);
}

constexpr Variant<Chunks> variant{
    .id = ASSAY_ID("inflate-two"),
    .parent = ASSAY_ID("inflate-pairs"),
    .why = "two streams in turn: one continues while the other waits for its next symbol",
    .isa = compiled_for,
    .run = run,
    .missing = only_inflates,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
