// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast
#include "kernels/masked-exp/calls.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Masked> lib_sleef_v4{
    .id = "lib-sleef-v4",
    .parent = "lib-mvec-skip-v4",
    .why = "the vector functions of SLEEF, within one unit in the last place",
    .isa = Isa::v4,
    .broken = false,
    .run = by_sleef<Avx512, true>,
    .missing = no_sleef,
    .cost = nullptr,
    .library = sleef_version,
};

} // namespace

ASSAY_VARIANT(lib_sleef_v4);

} // namespace assay::kernels
