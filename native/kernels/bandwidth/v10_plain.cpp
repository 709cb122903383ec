// build: -O2 -fno-tree-vectorize
#include "kernels/bandwidth/move.hpp"

namespace assay::kernels {

namespace {

void run(const Streams& work) {
    move_all(work);
}

constexpr Variant<Streams> variant{
    .id = "plain",
    .parent = "",
    .why = "one element at a time",
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
