#pragma once

/// Erasure codes of Intel's Storage Acceleration Library.

#include "kernels/erasure-code/work.hpp"

namespace assay::kernels {

/// As isa-l/erasure_code.h declares it.
typedef void EcEncodeData(int len, int k, int rows, unsigned char* tables, unsigned char** data,
                          unsigned char** coding);

EcEncodeData* ec_encode_data();
/// 32 bytes for each coefficient; whether it could.
bool isal_tables(const unsigned char* coefficients, unsigned char* tables);
const char* isal_missing(const Code& c);
/// Its file: it tells no version of itself.
const char* isal_name();

} // namespace assay::kernels
