#include "kernels/frame/isa.hpp"

namespace assay::kernels {

bool has(Isa isa) {
    if (isa == Isa::any) return true;
#if defined(__x86_64__)
    // GCC 11 and clang 17 know no names of levels, so each extension is tested.
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("avx2") &&
                      __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
                      __builtin_cpu_supports("bmi2");
    return avx2 &&
           (isa == Isa::avx2 || (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                                 __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                                 __builtin_cpu_supports("avx512vl")));
#else
    return false;
#endif
}

const char* name_of(Isa isa) {
    switch (isa) {
    case Isa::avx2:
        return "x86-64-v3";
    case Isa::avx512:
        return "x86-64-v4";
    case Isa::any:
        break;
    }
    return "any";
}

} // namespace assay::kernels
