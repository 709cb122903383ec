// build: -O2
#include "kernels/hash/libraries.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Hashing> variant{
    .id = "lib-openssl",
    .parent = "one",
    .why = "EVP of OpenSSL, one message at a time, with the processor's SHA instructions if it has them",
    .run = openssl_hash,
    .missing = openssl_missing,
    .library = openssl_name,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
