// build: -O2
#include "kernels/acoustic/sweep.hpp"

namespace assay::kernels {

namespace {

void run(const Wave& w) {
    constexpr std::ptrdiff_t lanes = 8;
    Wave whole_vectors = w;
    whole_vectors.nx = (w.nx - 1) / lanes * lanes;
    row_by_row(whole_vectors);
}

constexpr Variant<Wave> variant{
    .id = "broken-tail",
    .parent = "rows",
    .why = "wrong on purpose: cells that fill no vector are left out",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
