// build: -O3 -march=x86-64-v3 -ffp-contract=fast -fopenmp
#include "kernels/sparse-factor/nodes.hpp"
#include "kernels/sparse-factor/threads.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Factor> threads_v3{
    .id = "threads-v3",
    .parent = "lanes-v3",
    .why = "all threads share the large products",
    .isa = Isa::v3,
    .broken = false,
    .run = multifrontal<Threads<Four>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads_v3);

} // namespace assay::kernels
