// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -mgfni -fopenmp -fno-exceptions
#include "kernels/erasure-code/vectors.hpp"

namespace assay::kernels {

namespace {

const char* no_gfni(const Code&) {
    return __builtin_cpu_supports("gfni") ? nullptr : "this processor has no GFNI";
}

constexpr Variant<Code> threads_gfni{
    .id = "threads-gfni",
    .parent = "stream-gfni",
    .why = "all threads",
    .isa = Isa::v4,
    .broken = false,
    .run = side_by_side<Gfni>,
    .missing = no_gfni,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads_gfni);

} // namespace assay::kernels
