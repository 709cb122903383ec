// build: -O3 -ffp-contract=fast
// for: avx2 avx512
#include "kernels/krylov/solver.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<System> variant{
    .id = ASSAY_ID("blocked"),
    .parent = ASSAY_AVX2(ASSAY_ID("modified")) ASSAY_AVX512("blocked-avx2"),
    .why =
        ASSAY_AVX2("the classical method, by chunks of all vectors; only the orthogonalisation has changed")
            ASSAY_AVX512("eight elements in one instruction"),
    .isa = compiled_for,
    .run = solve<there_and_back<Chunk<Doubles, 8>>>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
