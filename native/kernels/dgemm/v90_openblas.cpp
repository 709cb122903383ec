// build: -O2
#include "kernels/dgemm/work.hpp"
#include "kernels/frame/blas.hpp"

namespace assay::kernels {

namespace {

void run(const Product& w) {
    openblas().use_threads();
    openblas().gemm(w.m, w.n, w.k, w.a, w.b, 0.0, w.c);
}

const char* missing(const Product&) {
    return openblas().missing();
}

const char* library() {
    return openblas().told();
}

constexpr Variant<Product> lib_openblas{
    .id = "lib-openblas",
    .parent = "naive",
    .why = "OpenBLAS of the distribution, all threads; where it takes the processor for another, "
           "OPENBLAS_CORETYPE tells it",
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
