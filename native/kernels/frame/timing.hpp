#pragma once

#include "common/clock.hpp"
#include "kernels/frame/kernel.hpp"

#include <vector>

namespace assay::kernels {

/// Limits of a measurement.
struct Patience {
    Nanos whole = nanos_per_second / 2; ///< After so long no other sample begins.
    Nanos least = nanos_per_milli;      ///< A sample has as many repetitions as take so long.
    std::size_t most = 1000;            ///< Samples.
};

/// One repetition, averaged over those of a sample.
struct Sample {
    double wall_s = 0.0;
    double cpu_s = 0.0; ///< CPU time of all threads.
};

/// Runs a variant once as a warm-up, fills its output with invalid values, and measures it. The caller checks
/// the output afterwards.
std::vector<Sample> time(Kernel& kernel, std::size_t variant, const Patience& patience);

/// The middle one; 0 where there is none.
double median(std::vector<double> values);

} // namespace assay::kernels
