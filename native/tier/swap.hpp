#pragma once

namespace assay::tier {

/// \throws std::runtime_error where no swap is in use: then what is paged out has no place to go.
void demand_swap();

} // namespace assay::tier
