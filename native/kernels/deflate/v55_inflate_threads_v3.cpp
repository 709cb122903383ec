// build: -O2 -march=x86-64-v3 -fopenmp
#include "kernels/deflate/two.hpp"

namespace assay::kernels {

namespace {

void run(const Chunks& w) {
#pragma omp parallel for schedule(dynamic)
    for (std::size_t i = 0; i < w.count; i += 2) inflate_pair(w, i);
}

constexpr Variant<Chunks> inflate_threads{
    .id = "inflate-threads",
    .parent = "inflate-two",
    .why = "chunks shared among all threads",
    .isa = Isa::v3,
    .broken = false,
    .run = run,
    .missing = only_inflates,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(inflate_threads);

} // namespace assay::kernels
