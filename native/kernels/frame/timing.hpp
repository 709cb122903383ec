#pragma once

#include "common/clock.hpp"
#include "kernels/frame/kernel.hpp"

#include <vector>

namespace assay::kernels {

/// How long and how often to measure.
struct Patience {
    Nanos whole = nanos_per_second / 2; ///< After so long no other sample begins.
    Nanos least = nanos_per_milli;      ///< A sample has as many repetitions as take so long.
    std::size_t most = 1000;            ///< Samples.
};

/// One repetition, averaged over those of a sample.
struct Sample {
    double wall_s = 0.0;
    double cpu_s = 0.0; ///< Of all threads.
};

/// Runs a variant once to warm up, fills its output with poison, and times it. What it left is checked
/// afterwards by who asks.
std::vector<Sample> time(Kernel& kernel, std::size_t variant, const Patience& patience);

/// The middle one; 0 where there is none.
double median(std::vector<double> values);

} // namespace assay::kernels
