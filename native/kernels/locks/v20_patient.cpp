// build: -O2 -fopenmp
#include "kernels/locks/team.hpp"

namespace assay::kernels {

namespace {

struct Lock {
    static int* word(const Lookups& work) { return reinterpret_cast<int*>(work.room); }
    static void take(const Lookups& work) { take_patiently(word(work)); }
    static void release(const Lookups& work) { __atomic_store_n(word(work), 0, __ATOMIC_RELEASE); }
};

constexpr Variant<Lookups> variant{
    .id = "patient-spin",
    .parent = "spin",
    .why = "waits by reading in its own cache, and exchanges once the lock looks free",
    .run = look_up<Exclusive<Lock>>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
