// build: -O2
#include "kernels/hash-queue/libraries.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Intake> variant{
    .id = "lib-openssl",
    .parent = "one",
    .why = "OpenSSL, one chunk at a time, with the processor's SHA instructions if it has them",
    .run = consume<OpenSsl>,
    .missing = no_openssl,
    .library = openssl_name,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
