// build: -O2
#include "kernels/dgemm/work.hpp"
#include "kernels/frame/blas.hpp"

namespace assay::kernels {

namespace {

void run(const Product& w) {
    blis().use_threads();
    blis().gemm(w.m, w.n, w.k, w.a, w.b, 0.0, w.c);
}

const char* missing(const Product&) {
    return blis().missing();
}

const char* library() {
    return blis().told();
}

constexpr Variant<Product> lib_blis{
    .id = "lib-blis",
    .parent = "naive",
    .why = "BLIS, all threads",
    .isa = Isa::any,
    .broken = false,
    .run = run,
    .missing = missing,
    .cost = nullptr,
    .library = library,
};

} // namespace

ASSAY_VARIANT(lib_blis);

} // namespace assay::kernels
