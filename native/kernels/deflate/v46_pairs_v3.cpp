// build: -O2 -march=x86-64-v3
#include "kernels/deflate/each.hpp"
#include "kernels/deflate/wide.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Chunks> pairs_v3{
    .id = "inflate-pairs-bmi2",
    .parent = "inflate-pairs",
    .why = "shifts by any register (BMI2)",
    .isa = Isa::v3,
    .broken = false,
    .run = each<inflate<Fast<true>>>,
    .missing = only_inflates,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(pairs_v3);

} // namespace assay::kernels
