#pragma once

#include "common/clock.hpp"
#include "kernels/frame/kernel.hpp"

#include <vector>

namespace assay::kernels {

/// Limits of a measurement.
struct MeasurementLimits {
    Nanos total = nanos_per_second / 2; ///< No sample begins after this time.
    Nanos min_sample = nanos_per_milli; ///< Minimum length of a sample, which is filled with repetitions.
    std::size_t max_samples = 1000;
};

/// Times of one repetition, averaged over the repetitions of a sample.
struct Sample {
    double wall_s = 0.0;
    double cpu_s = 0.0; ///< CPU time of all threads.
};

/// Run a variant once as a warm-up, fill its output with invalid values, and measure it. The caller checks
/// the output afterwards.
std::vector<Sample> time(Kernel& kernel, std::size_t variant, const MeasurementLimits& limits);

/// Return the median, or 0 without values.
double median(std::vector<double> values);

} // namespace assay::kernels
