// build: -O2 -fno-tree-vectorize
#include "kernels/bandwidth/move.hpp"

namespace assay::kernels {

namespace {

void run(const Streams& work) {
    move_all(work);
}

constexpr Variant<Streams> plain{
    .id = "plain",
    .parent = nullptr,
    .why = "one element at a time",
    .isa = Isa::any,
    .broken = false,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(plain);

} // namespace assay::kernels
