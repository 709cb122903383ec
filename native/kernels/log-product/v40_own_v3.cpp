// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/log-product/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Logarithms> own_v3{
    .id = "own-v3",
    .parent = "lib-mvec-v3",
    .why = "an own logarithm by artanh, in place of the calls: two of them overlap",
    .isa = Isa::v3,
    .broken = false,
    .run = own<Avx2, false>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(own_v3);

} // namespace assay::kernels
