// build: -O2
#include "kernels/acoustic/sweep.hpp"

namespace assay::kernels {

namespace {

void run(const Wave& w) {
    Wave other = w;
    other.speed = w.speed + 1;
    row_by_row(other);
}

constexpr Variant<Wave> variant{
    .id = "broken-speed",
    .parent = "rows",
    .why = "wrong on purpose: each cell has the speed of the next",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
