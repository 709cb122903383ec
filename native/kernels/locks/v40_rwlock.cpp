// build: -O2 -fopenmp
#include "kernels/locks/team.hpp"

#include <pthread.h>
namespace assay::kernels {

namespace {

struct Guard {
    /// All zero is PTHREAD_RWLOCK_INITIALIZER of glibc and musl.
    static pthread_rwlock_t* lock(const Lookups& work) {
        return reinterpret_cast<pthread_rwlock_t*>(work.room);
    }
    static std::int64_t read(const Lookups& work, const Section& one) {
        pthread_rwlock_rdlock(lock(work));
        const std::int64_t torn = read_entries(work, one);
        pthread_rwlock_unlock(lock(work));
        return torn;
    }
    static void write(const Lookups& work, const Section& one) {
        pthread_rwlock_wrlock(lock(work));
        change(work, one);
        pthread_rwlock_unlock(lock(work));
    }
};

constexpr Variant<Lookups> variant{
    .id = "rwlock",
    .parent = "mutex",
    .why = "pthread_rwlock: readers enter together, but still transfer the lock's own line",
    .run = look_up<Guard>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
