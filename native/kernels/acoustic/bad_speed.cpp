// build: -O2
#include "kernels/acoustic/sweep.hpp"

namespace assay::kernels {

namespace {

void run(const Wave& w) {
    Wave other = w;
    other.speed = w.speed + 1;
    row_by_row(other);
}

constexpr Variant<Wave> bad_speed{
    .id = "broken-speed",
    .parent = "rows",
    .why = "wrong on purpose: each cell has the speed of the next",
    .isa = Isa::any,
    .broken = true,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(bad_speed);

} // namespace assay::kernels
