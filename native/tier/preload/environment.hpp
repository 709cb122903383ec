#pragma once

#include "tier/memory/budget.hpp"
#include "tier/pager/pager_config.hpp"

#include <cstddef>
#include <string_view>

namespace assay::tier::preload {

/// Engine that fetches and evicts memory.
enum class Engine { none, pager, advisor };

[[nodiscard]] Engine engine_from_environment();

/// Return the minimum size of managed allocations, in bytes.
[[nodiscard]] std::size_t threshold_from_environment(std::size_t default_value);

/// Return the address space for managed memory, in bytes.
[[nodiscard]] std::size_t addresses_from_environment();

/// Return the share of this process in the DRAM of the run, in bytes.
[[nodiscard]] std::size_t share_from_environment();

/// Return the budget of the run, or a new one for this process and its children.
/// \throws exceptions of Budget.
[[nodiscard]] Budget budget_from_environment();

/// Return the configuration, except the budget and its size.
/// \throws std::runtime_error for an unknown word.
[[nodiscard]] PagerConfig config_from_environment();

/// Set an environment variable for child processes, before `main` has begun.
///
/// setenv(3) cannot be used: bash defines its own, which does not work this early, and copies `environ`
/// later.
/// \throws std::bad_alloc.
void export_variable(std::string_view name, std::string_view value);

} // namespace assay::tier::preload
