// build: -O3 -mgfni
// for: avx512
#include "kernels/erasure-code/vectors.hpp"

namespace assay::kernels {

namespace {

const char* no_gfni(const Code&) {
    return __builtin_cpu_supports("gfni") ? nullptr : "this processor has no GFNI";
}

constexpr Variant<Code> variant{
    .id = "stream-gfni",
    .parent = "gfni",
    .why = "parities larger than the caches are stored past them, and their lines are not read first",
    .isa = compiled_for,
    .run = all_past_caches<Gfni>,
    .missing = no_gfni,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
