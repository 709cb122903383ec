// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -fopenmp -fno-exceptions -fno-tree-reassoc
#include "kernels/hash/lanes.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Hashing> threads_v4{
    .id = "threads-avx512",
    .parent = "lanes-avx512",
    .why = "all threads",
    .isa = Isa::v4,
    .broken = false,
    .run = side_by_side<Short16, Long8>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads_v4);

} // namespace assay::kernels
