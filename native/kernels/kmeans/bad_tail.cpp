// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/kmeans/vectors.hpp"

namespace assay::kernels {

namespace {

void run(const Assignment& a) {
    Assignment most = a;
    most.n = (a.n > 0 ? a.n - 1 : 0) / 16 * 16;
    serially<16, assign_later<Avx2, 2, Products>>(most);
}

constexpr Variant<Assignment> bad_tail{
    .id = "broken-tail",
    .parent = "later-v3",
    .why = "wrong on purpose: points that fill no block are left out",
    .isa = Isa::v3,
    .broken = true,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(bad_tail);

} // namespace assay::kernels
