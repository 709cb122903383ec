#pragma once

/// Erasure codes of Intel's Storage Acceleration Library.

#include "kernels/erasure-code/work.hpp"

namespace assay::kernels {

/// Function as declared in isa-l/erasure_code.h.
typedef void EcEncodeData(int len, int k, int rows, unsigned char* tables, unsigned char** data,
                          unsigned char** coding);

EcEncodeData* ec_encode_data();
/// Compute 32 bytes for each coefficient. Return false if the library is not available.
bool isal_tables(const unsigned char* coefficients, unsigned char* tables);
const char* isal_missing(const Code& c);
/// Return the file name of the library, which does not report its version.
const char* isal_name();

} // namespace assay::kernels
