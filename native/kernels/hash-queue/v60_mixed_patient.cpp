// build: -O3 -fno-tree-reassoc
// for: avx2 avx512
#include "kernels/hash-queue/mixed.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Intake> variant{
    .id = ASSAY_ID("mixed-patient"),
    .parent = ASSAY_ID("mixed"),
    .why = "also waits for lanes to fill before it uses them, at most as long as a batch takes",
    .isa = compiled_for,
    .run = consume<Mixed<OwnLanes<U32s, U64s>>, true>,
    .missing = no_openssl,
    .library = openssl_name,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
