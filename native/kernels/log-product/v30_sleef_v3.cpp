// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/log-product/calls.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Logarithms> lib_sleef_v3{
    .id = "lib-sleef-v3",
    .parent = "lib-mvec-v3",
    .why = "the vector function of SLEEF, within one unit in the last place",
    .isa = Isa::v3,
    .broken = false,
    .run = by_sleef<Avx2>,
    .missing = sleef_missing,
    .cost = nullptr,
    .library = sleef_version,
};

} // namespace

ASSAY_VARIANT(lib_sleef_v3);

} // namespace assay::kernels
