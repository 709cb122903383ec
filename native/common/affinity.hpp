#pragma once

#include <vector>

namespace assay {

/// CPUs that this process may use.
std::vector<int> own_affinity();

} // namespace assay
