#pragma once

/// xor_gen of Intel's Storage Acceleration Library.

#include "kernels/xor-parity/work.hpp"

namespace assay::kernels {

/// As isa-l/raid.h declares it. The last of `vects` pointers, three at least, is the target.
typedef int XorGen(int vects, int len, void** array);

XorGen* xor_gen();
const char* isal_missing(const Parity& p);
/// Its file: it tells no version of itself.
const char* isal_name();

} // namespace assay::kernels
