// build: -O2
#include "kernels/hash-queue/libraries.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Intake> lib_openssl{
    .id = "lib-openssl",
    .parent = "one",
    .why = "OpenSSL, with the processor's own instructions where it has some: one chunk at a time",
    .isa = Isa::any,
    .broken = false,
    .run = consume<OpenSsl>,
    .missing = no_openssl,
    .cost = nullptr,
    .library = openssl_name,
};

} // namespace

ASSAY_VARIANT(lib_openssl);

} // namespace assay::kernels
