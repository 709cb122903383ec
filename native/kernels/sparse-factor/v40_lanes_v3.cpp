// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/sparse-factor/lanes.hpp"
#include "kernels/sparse-factor/nodes.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Factor> lanes_v3{
    .id = "lanes-v3",
    .parent = "fronts",
    .why = "products of matrices in registers, by vectors of four",
    .isa = Isa::v3,
    .broken = false,
    .run = multifrontal<Lanes<Four>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(lanes_v3);

} // namespace assay::kernels
