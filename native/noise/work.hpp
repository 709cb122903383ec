#pragma once

#include "common/clock.hpp"

#include <cstdint>

namespace assay::noise {

/// Work without memory access: a chain of dependent multiplications.
void work(std::uint64_t steps);

/// Return the shortest duration of that number of steps in several tries.
Nanos min_duration(std::uint64_t steps, int tries);

/// Return the number of steps that take `length` without disturbance, from the fastest of several tries.
std::uint64_t steps_for(Nanos length);

} // namespace assay::noise
