// build: -O3 -fno-math-errno -fopenmp
#include "kernels/pca/blocks.hpp"
#include "kernels/pca/tridiagonal.hpp"

namespace assay::kernels {

namespace {

void run(const Components& w) {
    correlate_once<Plain>(w);
    decompose<Double2>(w);
}

constexpr Variant<Components> variant{
    .id = "once",
    .parent = "rows",
    .why = "no copy: data are read once, each block less its own mean while it is in a cache, and means of "
           "blocks are combined at the end, so that large means do not cancel",
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
