// build: -O2 -fopenmp
#include "kernels/locks/team.hpp"

#include <cpuid.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
namespace assay::kernels {

namespace {

struct Guard {
    /// All zero is PTHREAD_MUTEX_INITIALIZER of glibc and musl.
    static pthread_mutex_t* lock(const Lookups& work) {
        return reinterpret_cast<pthread_mutex_t*>(work.room);
    }
    static void take(const Lookups& work) { pthread_mutex_lock(lock(work)); }
    static void release(const Lookups& work) { pthread_mutex_unlock(lock(work)); }
    static std::int64_t read(const Lookups& work, const Section& one) {
        take(work);
        const std::int64_t torn = look(work, one);
        release(work);
        return torn;
    }
    static void write(const Lookups& work, const Section& one) {
        take(work);
        change(work, one);
        release(work);
    }
};

/// glibc elides mutexes alone, and only where the environment asks for it before the program starts.
const char* missing(const Lookups&) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    // RTM: leaf 7 of CPUID, EBX bit 11 (Intel SDM, volume 2A).
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (b >> 11U & 1U) == 0)
        return "this processor has no transactions (RTM)";
    const char* asked = getenv("GLIBC_TUNABLES");
    if (!asked || !strstr(asked, "glibc.elision.enable=1"))
        return "not asked for: GLIBC_TUNABLES=glibc.elision.enable=1";
    return nullptr;
}

constexpr Variant<Lookups> elided_mutex{
    .id = "elided-mutex",
    .parent = "mutex",
    .why = "the same mutex, elided by glibc: sections run as transactions, and no line of the lock moves",
    .isa = Isa::any,
    .broken = false,
    .run = look_up<Guard>,
    .missing = missing,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(elided_mutex);

} // namespace assay::kernels
