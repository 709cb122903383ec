#pragma once

#include "kernels/frame/kernel.hpp"

namespace assay::kernels {

/// The program of one kernel: words in, lines of JSON out; gives the exit status.
///
/// 0: all that was asked for was run, and is right. 1: a result is wrong. 2: words that it cannot do anything
/// with. 3: what was asked for cannot be had here.
int program(Kernel& kernel, int argc, char** argv);

} // namespace assay::kernels
