// build: -O3 -march=x86-64-v3 -ffp-contract=fast -fopenmp
#include "kernels/gram-schmidt/threads.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Base> threads_v3{
    .id = "threads-v3",
    .parent = "groups-v3",
    .why = "all threads, which wait for each other once for each group",
    .isa = Isa::v3,
    .broken = false,
    .run = side_by_side<Chunk<Four, 8, true>>,
    .missing = nullptr,
    .cost = by_groups,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads_v3);

} // namespace assay::kernels
