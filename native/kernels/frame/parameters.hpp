#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>

namespace assay::kernels {

/// A parameter of the work.
struct Parameter {
    std::string name;
    std::string what;
    std::int64_t usual = 0; ///< 0 of a size: it follows from how large the data are to be.
    std::int64_t least = 0;
    std::int64_t most = INT64_MAX;
};

using Values = std::map<std::string, std::int64_t>;

/// Invalid words of the command line; the text names them and the valid ones.
class BadWords : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// A whole number, perhaps with a unit of bytes as in "64M" (powers of 1024).
///
/// \throws BadWords for anything else.
std::int64_t parse_number(const std::string& name, const std::string& text);

} // namespace assay::kernels
