// build: -O3 -mgfni -fopenmp -fno-exceptions
// for: avx512
#include "kernels/erasure-code/vectors.hpp"

namespace assay::kernels {

namespace {

const char* no_gfni(const Code&) {
    return __builtin_cpu_supports("gfni") ? nullptr : "this processor has no GFNI";
}

constexpr Variant<Code> variant{
    .id = "threads-gfni",
    .parent = "stream-gfni",
    .why = "all threads",
    .isa = compiled_for,
    .run = side_by_side<Gfni>,
    .missing = no_gfni,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
