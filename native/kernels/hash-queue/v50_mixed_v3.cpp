// build: -O3 -march=x86-64-v3 -fno-tree-reassoc
#include "kernels/hash-queue/mixed.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Intake> mixed_v3{
    .id = "mixed-avx2",
    .parent = "lanes-avx2",
    .why = "few chunks by OpenSSL, one after the other, many in lanes: whichever took less so far",
    .isa = Isa::v3,
    .broken = false,
    .run = consume<Mixed<OwnLanes<Short8, Long4>>>,
    .missing = no_openssl,
    .cost = nullptr,
    .library = openssl_name,
};

} // namespace

ASSAY_VARIANT(mixed_v3);

} // namespace assay::kernels
