// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast
#include "kernels/log-product/calls.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Logarithms> lib_mvec_v4{
    .id = "lib-mvec-v4",
    .parent = "lib-mvec-v3",
    .why = "eight elements by the C library's vector function, which -ffast-math would call",
    .isa = Isa::v4,
    .broken = false,
    .run = by_libmvec<Avx512>,
    .missing = libmvec_missing,
    .cost = nullptr,
    .library = libmvec_version,
};

} // namespace

ASSAY_VARIANT(lib_mvec_v4);

} // namespace assay::kernels
