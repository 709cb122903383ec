// build: -O2 -fopenmp
#include "kernels/locks/mutex.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Lookups> variant{
    .id = "mutex",
    .parent = "patient-spin",
    .why = "pthread_mutex: who waits sleeps, so that who has the lock is not kept from its CPU",
    .run = look_up<Exclusive<Mutex>>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
