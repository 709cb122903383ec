// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast
#include "kernels/bandwidth/move.hpp"

namespace assay::kernels {

namespace {

void run(const Streams& work) {
    move_all(work);
}

constexpr Variant<Streams> vector_v4{
    .id = "vector-v4",
    .parent = "vector-v3",
    .why = "eight elements in one instruction",
    .isa = Isa::v4,
    .broken = false,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(vector_v4);

} // namespace assay::kernels
