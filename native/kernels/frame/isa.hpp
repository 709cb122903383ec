#pragma once

#include "kernels/frame/variant.hpp"

namespace assay::kernels {

/// Whether this processor, and its kernel, have all of a level.
bool has(Isa isa);

/// "x86-64-v3".
const char* name_of(Isa isa);

} // namespace assay::kernels
