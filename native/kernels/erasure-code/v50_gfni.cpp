// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -mgfni
#include "kernels/erasure-code/vectors.hpp"

namespace assay::kernels {

namespace {

const char* no_gfni(const Code&) {
    return __builtin_cpu_supports("gfni") ? nullptr : "this processor has no GFNI";
}

constexpr Variant<Code> gfni{
    .id = "gfni",
    .parent = "once-avx512",
    .why = "a product is one instruction: a matrix of bits times each byte",
    .isa = Isa::v4,
    .broken = false,
    .run = all_at_once<Gfni>,
    .missing = no_gfni,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(gfni);

} // namespace assay::kernels
