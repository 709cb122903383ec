#pragma once

/// Vectors of doubles. Their operators work lane by lane. There are no functions here, so that files compiled
/// for different instruction sets can include this header.

namespace {

typedef double Double1 __attribute__((vector_size(8)));
typedef double Double2 __attribute__((vector_size(16)));
typedef double Double4 __attribute__((vector_size(32)));
typedef double Double8 __attribute__((vector_size(64)));

/// The widest vector of the instruction set that this file is compiled for.
#if defined(ASSAY_FOR_AVX512)
typedef Double8 Doubles;
#else
typedef Double4 Doubles;
#endif

} // namespace
