#pragma once

#include "tier/budget.hpp"
#include "tier/means.hpp"

#include <cstddef>

namespace assay::tier::preload {

/// Who brings memory and takes it away.
enum class How { nobody, pager, advisor };

[[nodiscard]] How how_from_environment();

/// Bytes from which on memory is large.
[[nodiscard]] std::size_t threshold_from_environment(std::size_t usual);

/// Of the DRAM that is named, what is left of it by others like this process.
[[nodiscard]] std::size_t part_from_environment();

/// That of the run, or a new one for what is started from here.
/// \throws what Budget does.
[[nodiscard]] Budget budget_from_environment();

/// All but the budget, and what it has.
/// \throws std::runtime_error where a word is not known.
[[nodiscard]] Means means_from_environment();

} // namespace assay::tier::preload
