// build: -O2 -fopenmp
#include "kernels/deflate/chains.hpp"
#include "kernels/deflate/compress.hpp"
#include "kernels/deflate/threads.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Chunks> threads_chains{
    .id = "threads-chains",
    .parent = "long-chains",
    .why = "chunks shared among all threads",
    .isa = Isa::any,
    .broken = false,
    .run = side_by_side<compress<Chains<64, 128>, Code::best>>,
    .missing = only_compresses,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads_chains);

} // namespace assay::kernels
