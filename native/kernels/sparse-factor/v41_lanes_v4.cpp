// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast
#include "kernels/sparse-factor/lanes.hpp"
#include "kernels/sparse-factor/nodes.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Factor> lanes_v4{
    .id = "lanes-v4",
    .parent = "lanes-v3",
    .why = "products of matrices by vectors of eight",
    .isa = Isa::v4,
    .broken = false,
    .run = multifrontal<Lanes<Eight>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(lanes_v4);

} // namespace assay::kernels
