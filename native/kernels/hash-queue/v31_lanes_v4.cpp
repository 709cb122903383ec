// build: -O3 -march=x86-64-v4 -fno-tree-reassoc
#include "kernels/hash-queue/lanes.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Intake> lanes_avx512{
    .id = "lanes-avx512",
    .parent = "one",
    .why = "all that wait at a time, sixteen at most, in the lanes of vectors: lanes without a chunk work "
           "for nothing",
    .isa = Isa::v4,
    .broken = false,
    .run = consume<OwnLanes<Short16, Long8>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(lanes_avx512);

} // namespace assay::kernels
