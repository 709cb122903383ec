#pragma once

/// What one file of a kernel says of itself: a variant.
///
/// This header is included by files that are compiled for other processors than the rest, so it holds data
/// alone: code that it shared would be linked once, perhaps as one of them made it, and run on a processor
/// that does not know its instructions. For the same reason variants are constant data in a section of their
/// own, and no constructor registers them.

#include <cstddef>

namespace assay::kernels {

/// What a variant's own instructions need: the levels of the x86-64 psABI (https://gitlab.com/x86-psABIs).
enum class Isa { any, v2, v3, v4 };

/// What one repetition does, by the formulas of the algorithm; nothing of it is counted by the processor.
struct Cost {
    double flops = 0;               ///< Additions and multiplications; a fused one is two.
    double special = 0;             ///< Exponentials, logarithms, divisions, roots.
    double bytes = 0;               ///< That have to move at least.
    double bytes_with_allocate = 0; ///< The same where a line is read before it is written.
};

/// A way to do the work of a kernel.
///
/// `Work` is the kernel's own structure: plain pointers and numbers, all that one repetition needs.
template <class Work>
struct Variant {
    const char* id;
    const char* parent; ///< The variant that it makes one step from; nothing where it is the first.
    const char* why;    ///< What the step is, in one sentence.
    Isa isa;
    bool broken; ///< Wrong on purpose: its check has to fail.
    void (*run)(const Work&);
    /// Why it cannot be had for this work, or on this machine: a text that stays; null where it can.
    const char* (*missing)(const Work&);
    /// Where it moves more or less than the kernel says; null where it does not.
    Cost (*cost)(const Work&);
    /// Name, version and core of the library that does the work; null where none does.
    const char* (*library)();
};

} // namespace assay::kernels

/// Makes a variant known; once for each, at namespace scope.
#define ASSAY_VARIANT(variant)                                                                               \
    extern const void* const variant##_entry;                                                                \
    __attribute__((section("assay_variants"), used)) constinit const void* const variant##_entry = &(variant)
