// build: -O2
#include "kernels/hash/libraries.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Hashing> openssl{
    .id = "lib-openssl",
    .parent = "one",
    .why =
        "EVP of OpenSSL, one message at a time, with the instructions for SHA where the processor has them",
    .isa = Isa::any,
    .broken = false,
    .run = openssl_hash,
    .missing = openssl_missing,
    .cost = nullptr,
    .library = openssl_name,
};

} // namespace

ASSAY_VARIANT(openssl);

} // namespace assay::kernels
