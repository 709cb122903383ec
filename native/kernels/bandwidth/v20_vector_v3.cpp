// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/bandwidth/move.hpp"

namespace assay::kernels {

namespace {

void run(const Streams& work) {
    move_all(work);
}

constexpr Variant<Streams> vector_v3{
    .id = "vector-v3",
    .parent = "plain",
    .why = "four elements in one instruction",
    .isa = Isa::v3,
    .broken = false,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(vector_v3);

} // namespace assay::kernels
