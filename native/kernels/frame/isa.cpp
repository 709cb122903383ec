#include "kernels/frame/isa.hpp"

namespace assay::kernels {

bool has(Isa isa) {
    if (isa == Isa::any) return true;
#if defined(__x86_64__)
    // Levels as names are newer than GCC 11 and clang 17, so their parts are asked for.
    __builtin_cpu_init();
    const bool v2 = __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("sse4.1") &&
                    __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
    const bool v3 = v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
    return isa == Isa::v2 ? v2 : isa == Isa::v3 ? v3 : v4;
#else
    return false;
#endif
}

const char* name_of(Isa isa) {
    switch (isa) {
    case Isa::v2:
        return "x86-64-v2";
    case Isa::v3:
        return "x86-64-v3";
    case Isa::v4:
        return "x86-64-v4";
    case Isa::any:
        break;
    }
    return "any";
}

} // namespace assay::kernels
