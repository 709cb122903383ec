// build: -O2 -fopenmp
// for: avx2
#include "kernels/deflate/codec/two.hpp"

namespace assay::kernels {

namespace {

void run(const Chunks& w) {
#pragma omp parallel for schedule(dynamic)
    for (std::size_t i = 0; i < w.count; i += 2) inflate_pair(w, i);
}

constexpr Variant<Chunks> variant{
    .id = ASSAY_ID("inflate-threads"),
    .parent = ASSAY_ID("inflate-two"),
    .why = "chunks shared among all threads",
    .isa = compiled_for,
    .run = run,
    .missing = only_inflates,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
