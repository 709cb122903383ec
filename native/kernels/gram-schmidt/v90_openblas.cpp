// build: -O2
#include "kernels/frame/blas.hpp"
#include "kernels/gram-schmidt/work.hpp"

namespace assay::kernels {

namespace {

void run(const Base& w) {
    // Of an empty matrix no product is written.
    for (std::size_t i = 0; i < w.vectors; ++i) w.sums[i] = 0.0;
    openblas().use_threads();
    openblas().gemv(true, w.n, w.vectors, 1.0, w.q, w.stride, w.x, 1.0, w.sums);
    openblas().gemv(false, w.n, w.vectors, -1.0, w.q, w.stride, w.sums, 1.0, w.x);
    openblas().gemv(false, w.n, w.vectors, -1.0, w.d, w.stride, w.sums, 1.0, w.y);
}

const char* missing(const Base&) {
    return openblas().missing();
}

const char* library() {
    return openblas().told();
}

constexpr Variant<Base> lib_openblas{
    .id = "lib-openblas",
    .parent = "modified",
    .why = "the classical method as three products of a matrix and a vector (dgemv) of the distribution's "
           "OpenBLAS, all threads",
    .isa = Isa::any,
    .broken = false,
    .run = run,
    .missing = missing,
    .cost = nullptr,
    .library = library,
};

} // namespace

ASSAY_VARIANT(lib_openblas);

} // namespace assay::kernels
