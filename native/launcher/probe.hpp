#pragma once

#include <string>

namespace assay {

/// What this host lets assay-exec do, as one JSON document and a newline. It changes nothing but for a
/// control group that it makes and removes again.
std::string probe_host();

} // namespace assay
