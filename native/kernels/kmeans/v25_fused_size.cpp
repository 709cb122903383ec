// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/kmeans/loops.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Assignment> fused_size{
    .id = "fused-size",
    .parent = "fused-signed",
    .why =
        "the index has 64 bits, as in the program of the article: it is twice as wide as a float beside it",
    .isa = Isa::v3,
    .broken = false,
    .run = fused<std::size_t, squared>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(fused_size);

} // namespace assay::kernels
