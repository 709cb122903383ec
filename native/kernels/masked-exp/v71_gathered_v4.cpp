// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast
#include "kernels/masked-exp/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Masked> gathered_v4{
    .id = "gathered-v4",
    .parent = "own-v4",
    .why = "elements above zero are gathered, and the function is computed of these alone",
    .isa = Isa::v4,
    .broken = false,
    .run = gathered,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(gathered_v4);

} // namespace assay::kernels
