// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast -ffast-math
#include "kernels/kmeans/loops.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> arrays_v4{
    .id = "arrays-v4",
    .parent = "arrays-v3",
    .why = "sixteen centres in one instruction",
    .isa = Isa::v4,
    .broken = false,
    .run = by_colour,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(arrays_v4);

} // namespace assay::kernels
