#pragma once

namespace assay {

/// Version of the JSON documents that native programs read and write; assay.records.codec has the same.
inline constexpr int schema_version = 2;

} // namespace assay
