// build: -O3 -ffp-contract=fast -fno-math-errno -fopenmp
// for: avx2 avx512
#include "kernels/pca/strips.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Components> variant{
    .id = ASSAY_ID("registers"),
    .parent = ASSAY_AVX2("once") ASSAY_AVX512("registers-avx2"),
    .why = ASSAY_AVX2("blocks as strips of features; sums of three strips with one stay in registers, from "
                      "the diagonal downwards; fused multiply-add") ASSAY_AVX512("vectors of 512 bits"),
    .isa = compiled_for,
    .run = in_registers<Doubles>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
