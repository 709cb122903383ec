#pragma once

#include "kernels/frame/variant.hpp"

namespace assay::kernels {

/// Return whether processor and operating system support an instruction set.
bool has(Isa isa);

/// Return the level of the psABI, such as "x86-64-v3".
const char* name_of(Isa isa);

} // namespace assay::kernels
