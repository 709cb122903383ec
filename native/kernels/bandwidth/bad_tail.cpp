// build: -O2
#include "kernels/bandwidth/move.hpp"

namespace assay::kernels {

namespace {

void run(const Streams& work) {
    Streams shorter = work;
    if (shorter.n > 0) --shorter.n;
    move_all(shorter);
}

constexpr Variant<Streams> variant{
    .id = "broken-tail",
    .parent = "plain",
    .why = "wrong on purpose: leaves out the last element",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
