// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -mgfni
#include "kernels/erasure-code/vectors.hpp"

namespace assay::kernels {

namespace {

const char* no_gfni(const Code&) {
    return __builtin_cpu_supports("gfni") ? nullptr : "this processor has no GFNI";
}

constexpr Variant<Code> stream_gfni{
    .id = "stream-gfni",
    .parent = "gfni",
    .why = "parities that do not fit the caches go past them, and their lines are not read first",
    .isa = Isa::v4,
    .broken = false,
    .run = all_past_caches<Gfni>,
    .missing = no_gfni,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(stream_gfni);

} // namespace assay::kernels
