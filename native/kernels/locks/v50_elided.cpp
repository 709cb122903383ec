// build: -O2 -fopenmp
#include "kernels/locks/mutex.hpp"

#include <cpuid.h>
#include <stdlib.h>
#include <string.h>

namespace assay::kernels {

namespace {

/// glibc elides only mutexes, and only if an environment variable was set before the program started.
const char* missing(const Lookups&) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    // RTM: leaf 7 of CPUID, EBX bit 11 (Intel SDM, volume 2A).
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (b >> 11U & 1U) == 0)
        return "this processor has no transactions (RTM)";
    const char* asked = getenv("GLIBC_TUNABLES");
    if (!asked || !strstr(asked, "glibc.elision.enable=1"))
        return "not enabled: set GLIBC_TUNABLES=glibc.elision.enable=1";
    return nullptr;
}

constexpr Variant<Lookups> variant{
    .id = "elided-mutex",
    .parent = "mutex",
    .why = "the same mutex, elided by glibc: sections run as transactions, and the lock's line does not move",
    .run = look_up<Exclusive<Mutex>>,
    .missing = missing,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
