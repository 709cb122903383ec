// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast -fopenmp
#include "kernels/gram-schmidt/threads.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Base> threads_v4{
    .id = "threads-v4",
    .parent = "groups-v4",
    .why = "all threads, which wait for each other once for each group",
    .isa = Isa::v4,
    .broken = false,
    .run = side_by_side<Chunk<Eight, 8, true>>,
    .missing = nullptr,
    .cost = by_groups,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads_v4);

} // namespace assay::kernels
