// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast
#include "kernels/acoustic/sweep.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Wave> vectors_v4{
    .id = "vectors-v4",
    .parent = "vectors-v3",
    .why = "sixteen cells at once",
    .isa = Isa::v4,
    .broken = false,
    .run = row_by_row,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(vectors_v4);

} // namespace assay::kernels
