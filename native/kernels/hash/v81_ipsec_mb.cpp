// build: -O2
#include "kernels/hash/libraries.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Hashing> ipsec{
    .id = "lib-ipsec-mb",
    .parent = "one",
    .why = "lanes of intel-ipsec-mb, a job for each message",
    .isa = Isa::any,
    .broken = false,
    .run = ipsec_hash,
    .missing = ipsec_missing,
    .cost = nullptr,
    .library = ipsec_name,
};

} // namespace

ASSAY_VARIANT(ipsec);

} // namespace assay::kernels
