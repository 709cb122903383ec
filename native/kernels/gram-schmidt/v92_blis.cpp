// build: -O2
#include "kernels/frame/blas.hpp"
#include "kernels/gram-schmidt/work.hpp"

namespace assay::kernels {

namespace {

void run(const Base& w) {
    // Of an empty matrix no product is written.
    for (std::size_t i = 0; i < w.vectors; ++i) w.sums[i] = 0.0;
    blis().use_threads();
    blis().gemv(true, w.n, w.vectors, 1.0, w.q, w.stride, w.x, 1.0, w.sums);
    blis().gemv(false, w.n, w.vectors, -1.0, w.q, w.stride, w.sums, 1.0, w.x);
    blis().gemv(false, w.n, w.vectors, -1.0, w.d, w.stride, w.sums, 1.0, w.y);
}

const char* missing(const Base&) {
    return blis().missing();
}

const char* library() {
    return blis().told();
}

constexpr Variant<Base> lib_blis{
    .id = "lib-blis",
    .parent = "modified",
    .why = "the same with BLIS, all threads",
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
