// build: -O2
#include "kernels/acoustic/sweep.hpp"

namespace assay::kernels {

namespace {

void run(const Wave& w) {
    Wave shorter = w;
    shorter.c[radius] = 0.0F;
    row_by_row(shorter);
}

constexpr Variant<Wave> bad_reach{
    .id = "broken-reach",
    .parent = "rows",
    .why = "wrong on purpose: the outermost neighbours are left out, whose coefficient is 2e-6",
    .isa = Isa::any,
    .broken = true,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(bad_reach);

} // namespace assay::kernels
