// build: -O2 -fopenmp
#include "kernels/locks/team.hpp"

namespace assay::kernels {

namespace {

struct Lock {
    static int* word(const Lookups& work) { return reinterpret_cast<int*>(work.room); }
    static void take(const Lookups& work) {
        while (__atomic_exchange_n(word(work), 1, __ATOMIC_ACQUIRE) != 0) {
        }
    }
    static void release(const Lookups& work) { __atomic_store_n(word(work), 0, __ATOMIC_RELEASE); }
};

constexpr Variant<Lookups> variant{
    .id = "spin",
    .parent = "",
    .why = "exchanges one word until it was free: every attempt takes the line from its owner",
    .run = look_up<Exclusive<Lock>>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
