// build: -O2
#include "kernels/frame/blas.hpp"
#include "kernels/gram-schmidt/work.hpp"

namespace assay::kernels {

namespace {

void run(const Base& w) {
    // Of an empty matrix no product is written.
    for (std::size_t i = 0; i < w.vectors; ++i) w.sums[i] = 0.0;
    openblas64().use_threads();
    openblas64().gemv(true, w.n, w.vectors, 1.0, w.q, w.stride, w.x, 1.0, w.sums);
    openblas64().gemv(false, w.n, w.vectors, -1.0, w.q, w.stride, w.sums, 1.0, w.x);
    openblas64().gemv(false, w.n, w.vectors, -1.0, w.d, w.stride, w.sums, 1.0, w.y);
}

const char* missing(const Base&) {
    return openblas64().missing();
}

const char* library() {
    return openblas64().told();
}

constexpr Variant<Base> lib_openblas64{
    .id = "lib-openblas64",
    .parent = "modified",
    .why = "the same with OpenBLAS as it comes with numpy and scipy (scipy-openblas64); ASSAY_OPENBLAS64 "
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
