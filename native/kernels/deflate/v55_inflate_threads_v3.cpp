// build: -O2 -march=x86-64-v3 -fopenmp
#include "kernels/deflate/threads.hpp"
#include "kernels/deflate/wide.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Chunks> inflate_threads{
    .id = "inflate-threads",
    .parent = "inflate-pairs-bmi2",
    .why = "chunks shared among all threads",
    .isa = Isa::v3,
    .broken = false,
    .run = side_by_side<inflate<Fast<true>>>,
    .missing = only_inflates,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(inflate_threads);

} // namespace assay::kernels
