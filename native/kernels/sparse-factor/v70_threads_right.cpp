// build: -O3 -ffp-contract=fast -fopenmp
// for: avx2 avx512
#include "kernels/sparse-factor/nodes.hpp"
#include "kernels/sparse-factor/threads.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Factor> variant{
    .id = ASSAY_ID("threads-right"),
    .parent = ASSAY_AVX2("right") ASSAY_AVX512("threads-right-avx2"),
    .why = ASSAY_AVX2("vectors of four, and all threads for large products")
        ASSAY_AVX512("the same by vectors of eight"),
    .isa = compiled_for,
    .run = right_looking<Threads<Doubles>>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
