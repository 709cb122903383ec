// build: -O2 -fopenmp
#include "kernels/locks/team.hpp"

namespace assay::kernels {

namespace {

struct Guard {
    static int* word(const Lookups& work) { return reinterpret_cast<int*>(work.room); }
    static void take(const Lookups& work) {
        while (__atomic_exchange_n(word(work), 1, __ATOMIC_ACQUIRE) != 0) {
            while (__atomic_load_n(word(work), __ATOMIC_RELAXED) != 0) {
#if defined(__x86_64__)
                __builtin_ia32_pause();
#endif
            }
        }
    }
    static void release(const Lookups& work) { __atomic_store_n(word(work), 0, __ATOMIC_RELEASE); }
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

constexpr Variant<Lookups> patient_spin{
    .id = "patient-spin",
    .parent = "spin",
    .why = "waits by reading, in its own cache, and exchanges once it looks free",
    .isa = Isa::any,
    .broken = false,
    .run = look_up<Guard>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(patient_spin);

} // namespace assay::kernels
