// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast
#include "kernels/log-product/calls.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Logarithms> lib_sleef_v4{
    .id = "lib-sleef-v4",
    .parent = "lib-mvec-v4",
    .why = "the vector function of SLEEF, within one unit in the last place",
    .isa = Isa::v4,
    .broken = false,
    .run = by_sleef<Avx512>,
    .missing = sleef_missing,
    .cost = nullptr,
    .library = sleef_version,
};

} // namespace

ASSAY_VARIANT(lib_sleef_v4);

} // namespace assay::kernels
