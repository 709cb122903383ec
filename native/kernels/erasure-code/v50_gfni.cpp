// build: -O3 -mgfni
// for: avx512
#include "kernels/erasure-code/vectors.hpp"

namespace assay::kernels {

namespace {

const char* no_gfni(const Code&) {
    return __builtin_cpu_supports("gfni") ? nullptr : "this processor has no GFNI";
}

constexpr Variant<Code> variant{
    .id = "gfni",
    .parent = ASSAY_ID("once"),
    .why = "a product is one instruction: a matrix of bits times each byte",
    .isa = compiled_for,
    .run = all_at_once<Gfni>,
    .missing = no_gfni,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
