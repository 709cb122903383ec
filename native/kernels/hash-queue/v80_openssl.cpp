// build: -O2
#include "kernels/hash-queue/libraries.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Intake> variant{
    .id = "lib-openssl",
    .parent = "one",
    .why = "OpenSSL, with the processor's own instructions where it has some: one chunk at a time",
    .run = consume<OpenSsl>,
    .missing = no_openssl,
    .library = openssl_name,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
