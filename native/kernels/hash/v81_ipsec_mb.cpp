// build: -O2
#include "kernels/hash/libraries.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Hashing> variant{
    .id = "lib-ipsec-mb",
    .parent = "one",
    .why = "lanes of intel-ipsec-mb, a job for each message",
    .run = ipsec_hash,
    .missing = ipsec_missing,
    .library = ipsec_name,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
