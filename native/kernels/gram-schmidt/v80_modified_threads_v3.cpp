// build: -O3 -march=x86-64-v3 -ffp-contract=fast -fopenmp
#include "kernels/gram-schmidt/threads.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Base> modified_threads_v3{
    .id = "modified-threads-v3",
    .parent = "modified-v3",
    .why = "all threads, which wait for each other once for each vector",
    .isa = Isa::v3,
    .broken = false,
    .run = one_by_one_side_by_side<Four>,
    .missing = nullptr,
    .cost = unblocked,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(modified_threads_v3);

} // namespace assay::kernels
