// build: -O3 -march=x86-64-v3 -fopenmp -fno-exceptions -fno-tree-reassoc
#include "kernels/hash/lanes.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Hashing> threads_v3{
    .id = "threads-avx2",
    .parent = "lanes-avx2",
    .why = "all threads",
    .isa = Isa::v3,
    .broken = false,
    .run = side_by_side<Short8, Long4>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads_v3);

} // namespace assay::kernels
