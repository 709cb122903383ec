// build: -O2
#include "kernels/dgemm/work.hpp"
#include "kernels/frame/blas.hpp"

namespace assay::kernels {

namespace {

void run(const Product& w) {
    openblas64().use_threads();
    openblas64().gemm(w.m, w.n, w.k, w.a, w.b, 0.0, w.c);
}

const char* missing(const Product&) {
    return openblas64().missing();
}

const char* library() {
    return openblas64().told();
}

constexpr Variant<Product> lib_openblas64{
    .id = "lib-openblas64",
    .parent = "naive",
    .why = "OpenBLAS as it comes with numpy and scipy (scipy-openblas64), mostly newer; ASSAY_OPENBLAS64 "
           "says where it is",
    .isa = Isa::any,
    .broken = false,
    .run = run,
    .missing = missing,
    .cost = nullptr,
    .library = library,
};

} // namespace

ASSAY_VARIANT(lib_openblas64);

} // namespace assay::kernels
