#pragma once

/// xor_gen of Intel's Storage Acceleration Library.

#include "kernels/xor-parity/work.hpp"

namespace assay::kernels {

/// Function as declared in isa-l/raid.h. The last of the `vects` pointers (at least three) is the target.
typedef int XorGen(int vects, int len, void** array);

XorGen* xor_gen();
const char* isal_missing(const Parity& p);
/// Return the file name of the library, which does not report its version.
const char* isal_name();

} // namespace assay::kernels
