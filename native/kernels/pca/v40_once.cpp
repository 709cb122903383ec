// build: -O3 -fno-math-errno -fopenmp
#include "kernels/pca/blocks.hpp"
#include "kernels/pca/tridiagonal.hpp"

namespace assay::kernels {

namespace {

void run(const Components& w) {
    correlate_once<Plain>(w);
    decompose<Two>(w);
}

constexpr Variant<Components> once{
    .id = "once",
    .parent = "rows",
    .why = "no copy: data are read once, each block less its own mean while it is in a cache, and "
           "means of blocks are brought together at the end, so that large means do not cancel",
    .isa = Isa::any,
    .broken = false,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(once);

} // namespace assay::kernels
