#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>

namespace assay::kernels {

/// A parameter of the work.
struct Parameter {
    std::string name;
    std::string description;
    std::int64_t default_value = 0; ///< 0 for a size that is chosen by the requested bytes of data.
    std::int64_t min = 0;
    std::int64_t max = INT64_MAX;
};

using Values = std::map<std::string, std::int64_t>;

/// Invalid arguments on the command line. The text names them and the valid ones.
class UsageError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Parse a whole number, optionally with a unit of bytes as in "64M" (powers of 1024).
///
/// \throws UsageError for an invalid number.
std::int64_t parse_number(const std::string& name, const std::string& text);

} // namespace assay::kernels
