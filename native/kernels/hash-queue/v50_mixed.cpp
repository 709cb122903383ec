// build: -O3 -fno-tree-reassoc
// for: avx2 avx512
#include "kernels/hash-queue/mixed.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Intake> variant{
    .id = ASSAY_ID("mixed"),
    .parent = ASSAY_ID("lanes"),
    .why = "few chunks by OpenSSL, one after the other, many in lanes: the faster way so far",
    .isa = compiled_for,
    .run = consume<Mixed<OwnLanes<U32s, U64s>>>,
    .missing = no_openssl,
    .library = openssl_name,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
