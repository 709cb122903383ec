// build: -O3 -ffp-contract=fast
// for: avx2
#include "kernels/kmeans/loops.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> variant{
    .id = ASSAY_ID("fused-size"),
    .parent = ASSAY_ID("fused-signed"),
    .why = "the index has 64 bits, as in the article's program: twice the width of a float",
    .isa = compiled_for,
    .run = fused<std::size_t, squared>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
