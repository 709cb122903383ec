// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast
#include "kernels/masked-exp/calls.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Masked> lib_mvec_skip_v4{
    .id = "lib-mvec-skip-v4",
    .parent = "lib-mvec-v4",
    .why = "the call is left out where the mask is empty",
    .isa = Isa::v4,
    .broken = false,
    .run = by_libmvec<Avx512, true>,
    .missing = no_libmvec,
    .cost = nullptr,
    .library = libmvec_version,
};

} // namespace

ASSAY_VARIANT(lib_mvec_skip_v4);

} // namespace assay::kernels
