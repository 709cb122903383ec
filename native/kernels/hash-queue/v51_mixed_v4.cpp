// build: -O3 -march=x86-64-v4 -fno-tree-reassoc
#include "kernels/hash-queue/mixed.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Intake> mixed_v4{
    .id = "mixed-avx512",
    .parent = "lanes-avx512",
    .why = "few chunks by OpenSSL, one after the other, many in lanes: whichever took less so far",
    .isa = Isa::v4,
    .broken = false,
    .run = consume<Mixed<OwnLanes<Short16, Long8>>>,
    .missing = no_openssl,
    .cost = nullptr,
    .library = openssl_name,
};

} // namespace

ASSAY_VARIANT(mixed_v4);

} // namespace assay::kernels
