// build: -O2 -fopenmp
#include "kernels/locks/mutex.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Lookups> mutex{
    .id = "mutex",
    .parent = "patient-spin",
    .why = "pthread_mutex: who waits sleeps, so that who has the lock is not kept from its CPU",
    .isa = Isa::any,
    .broken = false,
    .run = look_up<Exclusive<Mutex>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(mutex);

} // namespace assay::kernels
