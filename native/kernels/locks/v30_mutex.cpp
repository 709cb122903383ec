// build: -O2 -fopenmp
#include "kernels/locks/team.hpp"

#include <pthread.h>
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

constexpr Variant<Lookups> mutex{
    .id = "mutex",
    .parent = "patient-spin",
    .why = "pthread_mutex: who waits sleeps, so that who has the lock is not kept from its CPU",
    .isa = Isa::any,
    .broken = false,
    .run = look_up<Guard>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(mutex);

} // namespace assay::kernels
