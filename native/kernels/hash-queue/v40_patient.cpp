// build: -O3 -fno-tree-reassoc
// for: avx2 avx512
#include "kernels/hash-queue/lanes.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Intake> variant{
    .id = ASSAY_ID("patient"),
    .parent = ASSAY_ID("lanes"),
    .why = "waits for lanes to fill, at most as long as a batch takes",
    .isa = compiled_for,
    .run = consume<OwnLanes<U32s, U64s>, true>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
