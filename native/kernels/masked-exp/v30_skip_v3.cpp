// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/masked-exp/calls.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Masked> lib_mvec_skip_v3{
    .id = "lib-mvec-skip-v3",
    .parent = "lib-mvec-v3",
    .why = "the call is left out where the mask is empty",
    .isa = Isa::v3,
    .broken = false,
    .run = by_libmvec<Avx2, true>,
    .missing = no_libmvec,
    .cost = nullptr,
    .library = libmvec_version,
};

} // namespace

ASSAY_VARIANT(lib_mvec_skip_v3);

} // namespace assay::kernels
