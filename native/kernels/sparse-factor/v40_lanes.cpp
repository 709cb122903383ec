// build: -O3 -ffp-contract=fast
// for: avx2 avx512
#include "kernels/sparse-factor/lanes.hpp"
#include "kernels/sparse-factor/nodes.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Factor> variant{
    .id = ASSAY_ID("lanes"),
    .parent = ASSAY_AVX2("fronts") ASSAY_AVX512("lanes-avx2"),
    .why = ASSAY_AVX2("products of matrices in registers, by vectors of four")
        ASSAY_AVX512("products of matrices by vectors of eight"),
    .isa = compiled_for,
    .run = multifrontal<Lanes<Doubles>>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
