// build: -O2
#include "kernels/bandwidth/move.hpp"

namespace assay::kernels {

namespace {

void run(const Streams& work) {
    Streams most = work;
    if (most.n > 0) --most.n;
    move_all(most);
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
