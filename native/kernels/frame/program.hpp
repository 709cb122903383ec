#pragma once

#include "kernels/frame/kernel.hpp"

namespace assay::kernels {

/// Run the program of one kernel: read arguments, print lines of JSON and return the exit status.
///
/// 0: all requested variants ran, and their results are correct. 1: a result is wrong. 2: invalid arguments.
/// 3: the request is not supported here.
int program(Kernel& kernel, int argc, char** argv);

} // namespace assay::kernels
