// build: -O3 -march=x86-64-v3 -fno-tree-reassoc
#include "kernels/hash/lanes.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Hashing> lanes_v3{
    .id = "lanes-avx2",
    .parent = "one",
    .why = "eight messages side by side in the lanes of vectors, four where words are long",
    .isa = Isa::v3,
    .broken = false,
    .run = all<Short8, Long4>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(lanes_v3);

} // namespace assay::kernels
