// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast -fopenmp
#include "kernels/integral-tiles/threads.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Contraction> threads_v4{
    .id = "threads-v4",
    .parent = "lanes-v4",
    .why = "all threads, each with the tiles of its own rows",
    .isa = Isa::v4,
    .broken = false,
    .run = rows_side_by_side<InLanes<Eight>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads_v4);

} // namespace assay::kernels
