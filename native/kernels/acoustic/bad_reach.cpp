// build: -O2
#include "kernels/acoustic/sweep.hpp"

namespace assay::kernels {

namespace {

void run(const Wave& w) {
    Wave shorter = w;
    shorter.c[radius] = 0.0F;
    row_by_row(shorter);
}

constexpr Variant<Wave> variant{
    .id = "broken-reach",
    .parent = "rows",
    .why = "wrong on purpose: the outermost neighbours are left out, whose coefficient is 2e-6",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
