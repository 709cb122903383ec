// build: -O2
#include "kernels/bandwidth/move.hpp"

namespace assay::kernels {

namespace {

void run(const Streams& work) {
    Streams other = work;
    if (work.operation == triad)
        other.from = work.other, other.other = work.from;
    else if (work.n > 1)
        other.from = work.from + 1, --other.n;
    move_all(other);
}

constexpr Variant<Streams> variant{
    .id = "broken-swap",
    .parent = "plain",
    .why = "wrong on purpose: the arrays are swapped",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
