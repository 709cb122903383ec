// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast
#include "kernels/log-product/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Logarithms> own_v4{
    .id = "own-v4",
    .parent = "lib-mvec-v4",
    .why = "an own logarithm by a table of 16 intervals in registers, in place of the calls: two of them "
           "overlap",
    .isa = Isa::v4,
    .broken = false,
    .run = own<Avx512, false>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(own_v4);

} // namespace assay::kernels
