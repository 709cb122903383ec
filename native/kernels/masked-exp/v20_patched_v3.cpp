// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/masked-exp/calls.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Masked> lib_mvec_v3{
    .id = "lib-mvec-v3",
    .parent = "scalar",
    .why = "four elements by the C library's vector function; what is masked is replaced before and "
           "discarded after",
    .isa = Isa::v3,
    .broken = false,
    .run = by_libmvec<Avx2, false>,
    .missing = no_libmvec,
    .cost = nullptr,
    .library = libmvec_version,
};

} // namespace

ASSAY_VARIANT(lib_mvec_v3);

} // namespace assay::kernels
