// build: -O2
// for: avx2
#include "kernels/deflate/codec/each.hpp"
#include "kernels/deflate/codec/wide.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Chunks> variant{
    .id = ASSAY_ID("inflate-pairs"),
    .parent = "inflate-pairs",
    .why = "shifts by any register (BMI2)",
    .isa = compiled_for,
    .run = each<inflate<Fast<true>>>,
    .missing = only_inflates,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
