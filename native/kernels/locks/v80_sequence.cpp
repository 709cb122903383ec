// build: -O2 -fopenmp
#include "kernels/locks/team.hpp"

namespace assay::kernels {

namespace {

struct Guard {
    static std::uint64_t* number(const Lookups& work) { return reinterpret_cast<std::uint64_t*>(work.room); }
    static std::int64_t read(const Lookups& work, const Section& one) {
        for (;;) {
            const std::uint64_t before = __atomic_load_n(number(work), __ATOMIC_ACQUIRE);
            if ((before & 1U) == 0) {
                const std::int64_t torn = read_entries(work, one);
                // The entries are read before the counter is read again (Boehm 2012, "Can seqlocks get along
                // ...").
                __atomic_thread_fence(__ATOMIC_ACQUIRE);
                if (__atomic_load_n(number(work), __ATOMIC_RELAXED) == before) return torn;
            }
#if defined(__x86_64__)
            __builtin_ia32_pause();
#endif
        }
    }
    static void write(const Lookups& work, const Section& one) {
        std::uint64_t before = __atomic_load_n(number(work), __ATOMIC_RELAXED);
        while ((before & 1U) != 0 || !__atomic_compare_exchange_n(number(work), &before, before + 1, false,
                                                                  __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            before = __atomic_load_n(number(work), __ATOMIC_RELAXED);
        }
        __atomic_thread_fence(__ATOMIC_RELEASE);
        change(work, one);
        __atomic_store_n(number(work), before + 2, __ATOMIC_RELEASE);
    }
};

constexpr Variant<Lookups> variant{
    .id = "sequence",
    .parent = "patient-spin",
    .why = "readers take no lock: they compare a counter before and after, and retry if a writer changed it",
    .run = look_up<Guard>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
