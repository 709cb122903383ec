#pragma once

#include <string>

namespace assay {

/// Return the capabilities of this host for assay-exec, as one JSON document and a newline. The probe creates
/// one control group and removes it; it changes nothing else.
std::string probe_host();

} // namespace assay
