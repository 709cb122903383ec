// build: -O3 -ffp-contract=fast -fopenmp
// for: avx2 avx512
#include "kernels/sparse-factor/nodes.hpp"
#include "kernels/sparse-factor/threads.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Factor> variant{
    .id = ASSAY_ID("threads"),
    .parent = ASSAY_ID("lanes"),
    .why = "all threads share the large products",
    .isa = compiled_for,
    .run = multifrontal<Threads<Doubles>>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
