// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/acoustic/sweep.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Wave> vectors_v3{
    .id = "vectors-v3",
    .parent = "rows",
    .why = "the compiler works on eight cells at once, told that what is written is not read",
    .isa = Isa::v3,
    .broken = false,
    .run = row_by_row,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(vectors_v3);

} // namespace assay::kernels
