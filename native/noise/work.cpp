#include "noise/work.hpp"

#include <algorithm>

namespace assay::noise {

namespace {

constexpr std::uint64_t trial_steps = 20'000;
constexpr int trials = 200;

} // namespace

void work(std::uint64_t steps) {
    std::uint64_t x = 1;
    for (std::uint64_t i = 0; i < steps; ++i) {
        x = x * 6364136223846793005U + 1442695040888963407U;
        asm volatile("" : "+r"(x));
    }
}

Nanos min_duration(std::uint64_t steps, int tries) {
    Nanos shortest = never;
    for (int i = 0; i < tries; ++i) {
        const Nanos before = now_ns();
        work(steps);
        shortest = std::min(shortest, now_ns() - before);
    }
    return shortest;
}

std::uint64_t steps_for(Nanos length) {
    const Nanos took = std::max<Nanos>(min_duration(trial_steps, trials), 1);
    const double each = static_cast<double>(took) / static_cast<double>(trial_steps);
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(static_cast<double>(length) / each));
}

} // namespace assay::noise
