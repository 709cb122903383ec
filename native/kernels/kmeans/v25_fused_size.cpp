// build: -O3 -ffp-contract=fast
// for: avx2
#include "kernels/kmeans/loops.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> variant{
    .id = ASSAY_ID("fused-size"),
    .parent = ASSAY_ID("fused-signed"),
    .why =
        "the index has 64 bits, as in the program of the article: it is twice as wide as a float beside it",
    .isa = compiled_for,
    .run = fused<std::size_t, squared>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
