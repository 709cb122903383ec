// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/gram-schmidt/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Base> modified_v3{
    .id = "modified-v3",
    .parent = "modified",
    .why = "four elements in one instruction, eight partial sums side by side",
    .isa = Isa::v3,
    .broken = false,
    .run = one_by_one<Four>,
    .missing = nullptr,
    .cost = unblocked,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(modified_v3);

} // namespace assay::kernels
