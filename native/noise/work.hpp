#pragma once

#include "common/clock.hpp"

#include <cstdint>

namespace assay::noise {

/// Work that touches no memory: a chain of multiplications, each waiting for the one before it.
void work(std::uint64_t steps);

/// How long so many steps take where nothing disturbs them: the fastest of several tries.
Nanos fastest(std::uint64_t steps, int tries);

/// How many steps take as long as `length` where nothing disturbs them: by the fastest of several tries.
std::uint64_t steps_for(Nanos length);

} // namespace assay::noise
