// build: -O3 -march=x86-64-v3 -ffp-contract=fast -ffast-math
#include "kernels/kmeans/loops.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> arrays_v3{
    .id = "arrays-v3",
    .parent = "split-fast",
    .why = "centres as a structure of arrays: eight of them are one load for each colour",
    .isa = Isa::v3,
    .broken = false,
    .run = by_colour,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(arrays_v3);

} // namespace assay::kernels
