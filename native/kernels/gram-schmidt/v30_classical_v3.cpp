// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/gram-schmidt/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Base> classical_v3{
    .id = "classical-v3",
    .parent = "modified-v3",
    .why =
        "the classical method: all products before the first update, so that x is not changed between them",
    .isa = Isa::v3,
    .broken = false,
    .run = products_first<Four>,
    .missing = nullptr,
    .cost = unblocked,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(classical_v3);

} // namespace assay::kernels
