// build: -O3 -fno-tree-reassoc
// for: avx2 avx512
#include "kernels/hash-queue/mixed.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Intake> variant{
    .id = ASSAY_ID("mixed-patient"),
    .parent = ASSAY_ID("mixed"),
    .why = "and waits for lanes to fill where they will be used, as long at most as a batch takes",
    .isa = compiled_for,
    .run = consume<Mixed<OwnLanes<U32s, U64s>>, true>,
    .missing = no_openssl,
    .library = openssl_name,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
