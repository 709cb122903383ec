#include "kernels/frame/timing.hpp"

#include <time.h>

#include <algorithm>

namespace assay::kernels {

namespace {

Sample sample(Kernel& kernel, std::size_t variant, std::int64_t repetitions) {
    const Nanos cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    const Nanos wall = now_ns(CLOCK_MONOTONIC_RAW);
    for (std::int64_t i = 0; i < repetitions; ++i) kernel.run(variant);
    const Nanos wall_end = now_ns(CLOCK_MONOTONIC_RAW);
    const Nanos cpu_end = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    const auto count = static_cast<double>(repetitions);
    return {seconds(wall_end - wall) / count, seconds(cpu_end - cpu) / count};
}

} // namespace

std::vector<Sample> time(Kernel& kernel, std::size_t variant, const MeasurementLimits& limits) {
    const bool in_place = kernel.about().in_place;
    kernel.restore();
    kernel.poison();
    std::int64_t repetitions = 1;
    Sample warm = sample(kernel, variant, repetitions);
    // The first samples are slow, so each is a warm-up until one is long enough.
    constexpr std::int64_t max_repetitions = 1 << 24;
    while (!in_place && repetitions < max_repetitions) {
        const double whole = warm.wall_s * static_cast<double>(repetitions);
        if (whole >= seconds(limits.min_sample)) break;
        const double wanted = 1.2 * seconds(limits.min_sample) / std::max(warm.wall_s, 1e-9);
        repetitions = std::clamp(static_cast<std::int64_t>(wanted), repetitions + 1, max_repetitions);
        warm = sample(kernel, variant, repetitions);
    }
    std::vector<Sample> samples;
    const Nanos begun = now_ns();
    do {
        if (in_place) kernel.restore();
        kernel.poison();
        samples.push_back(sample(kernel, variant, repetitions));
    } while (samples.size() < limits.max_samples && now_ns() - begun < limits.total);
    return samples;
}

double median(std::vector<double> values) {
    if (values.empty()) return 0.0;
    std::ranges::sort(values);
    const std::size_t half = values.size() / 2;
    return values.size() % 2 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

} // namespace assay::kernels
