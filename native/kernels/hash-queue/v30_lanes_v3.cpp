// build: -O3 -march=x86-64-v3 -fno-tree-reassoc
#include "kernels/hash-queue/lanes.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Intake> lanes_avx2{
    .id = "lanes-avx2",
    .parent = "one",
    .why = "all that wait at a time, eight at most, in the lanes of vectors: lanes without a chunk work for "
           "nothing",
    .isa = Isa::v3,
    .broken = false,
    .run = consume<OwnLanes<Short8, Long4>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(lanes_avx2);

} // namespace assay::kernels
