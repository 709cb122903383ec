// build: -O2 -fopenmp
#include "kernels/locks/mutex.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Lookups> variant{
    .id = "mutex",
    .parent = "patient-spin",
    .why = "pthread_mutex: waiting threads sleep and leave their CPU to the owner",
    .run = look_up<Exclusive<Mutex>>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
