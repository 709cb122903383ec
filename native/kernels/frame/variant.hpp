#pragma once

/// Description of a variant, one file of a kernel.
///
/// Files that are compiled for different processors include this header, so it contains only data: the linker
/// keeps one copy of shared code, which might be one that a processor does not support. For the same reason,
/// variants are constant data in a separate section, and are not registered by constructors.

#include <cstddef>

namespace assay::kernels {

/// Instruction sets that variants are compiled for. AVX2 is level x86-64-v3 of the psABI (with FMA, BMI1 and
/// BMI2), AVX-512 is level x86-64-v4 (F, BW, CD, DQ and VL): https://gitlab.com/x86-psABIs/x86-64-ABI.
enum class Isa { any, avx2, avx512 };

/// Instruction set that this file is compiled for, by its line "// for: avx2 avx512". The build compiles the
/// file once for each name on that line; a file without the line is compiled once, for any processor.
///
/// `ASSAY_ID("rows")` is the ID of the variant with this instruction set: "rows-avx2", "rows-avx512" or
/// "rows". `ASSAY_AVX2(...)` and `ASSAY_AVX512(...)` keep their text only in files compiled for that set.
#if defined(ASSAY_FOR_AVX512)
constexpr Isa compiled_for = Isa::avx512;
#define ASSAY_ID(name) name "-avx512"
#define ASSAY_AVX2(...)
#define ASSAY_AVX512(...) __VA_ARGS__
#elif defined(ASSAY_FOR_AVX2)
constexpr Isa compiled_for = Isa::avx2;
#define ASSAY_ID(name) name "-avx2"
#define ASSAY_AVX2(...) __VA_ARGS__
#define ASSAY_AVX512(...)
#else
constexpr Isa compiled_for = Isa::any;
#define ASSAY_ID(name) name
#endif

/// Cost of one repetition, by the formulas of the algorithm; it is not counted by the processor.
struct Cost {
    double flops = 0;               ///< Additions and multiplications; a fused one is two.
    double special = 0;             ///< Exponentials, logarithms, divisions, roots.
    double bytes = 0;               ///< Minimum number of bytes to move.
    double bytes_with_allocate = 0; ///< The same, if cache lines are read before they are written.
};

/// A variant of a kernel.
///
/// `Work` is the kernel's own structure: plain pointers and numbers that one repetition needs.
template <class Work>
struct Variant {
    const char* id;
    const char* parent; ///< ID of the variant that this one improves by one step; empty for the first.
    const char* why;    ///< Description of the step, in one sentence.
    Isa isa = Isa::any;
    bool broken = false; ///< True if it is incorrect on purpose, and its check has to fail.
    void (*run)(const Work&);
    /// Return the reason why the variant is not available for this work or on this machine (a string of
    /// static lifetime), or null if it is available.
    const char* (*missing)(const Work&) = nullptr;
    /// Return the cost, if the variant moves more or less data than its kernel states.
    Cost (*cost)(const Work&) = nullptr;
    /// Return name, version and core type of the library that the variant uses. Null for a variant without a
    /// library.
    const char* (*library)() = nullptr;
};

} // namespace assay::kernels

/// Register a variant, once for each variant, at namespace scope.
#define ASSAY_VARIANT(variant)                                                                               \
    static_assert((variant).isa == assay::kernels::compiled_for, "isa has to be compiled_for");              \
    __attribute__((section("assay_variants"), used)) static constinit const void* const variant##_entry =    \
        &(variant)
