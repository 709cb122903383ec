// build: -O3 -march=x86-64-v3 -ffp-contract=fast -fno-math-errno
#include "kernels/hyperbolic/flux.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Gas> lanes_v3{
    .id = "lanes-v3",
    .parent = "once",
    .why = "the compiler works on four cells at once",
    .isa = Isa::v3,
    .broken = false,
    .run = whole_steps,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(lanes_v3);

} // namespace assay::kernels
