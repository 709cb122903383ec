#pragma once

#include <vector>

namespace assay {

/// Return the CPUs that this process may use.
std::vector<int> own_affinity();

} // namespace assay
