#pragma once

#include "tier/memory/budget.hpp"
#include "tier/pager/pager_config.hpp"

#include <cstddef>
#include <string_view>

namespace assay::tier::preload {

/// Who brings memory and takes it away.
enum class Engine { none, pager, advisor };

[[nodiscard]] Engine engine_from_environment();

/// Bytes from which on memory is large.
[[nodiscard]] std::size_t threshold_from_environment(std::size_t default_value);

/// Bytes of addresses for all that is managed.
[[nodiscard]] std::size_t addresses_from_environment();

/// Of the DRAM that is named, what is left of it by others like this process.
[[nodiscard]] std::size_t share_from_environment();

/// That of the run, or a new one for what is started from here.
/// \throws what Budget does.
[[nodiscard]] Budget budget_from_environment();

/// All but the budget, and what it has.
/// \throws std::runtime_error where a word is not known.
[[nodiscard]] PagerConfig config_from_environment();

/// A variable for what this process starts, before its `main` has begun.
///
/// Not by setenv(3): bash has one of its own, which it is too early for, and takes what is in `environ` then.
/// \throws std::bad_alloc.
void export_variable(std::string_view name, std::string_view value);

} // namespace assay::tier::preload
