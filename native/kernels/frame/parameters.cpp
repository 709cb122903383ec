#include "kernels/frame/parameters.hpp"

#include <charconv>
#include <string_view>

namespace assay::kernels {

std::int64_t parse_number(const std::string& name, const std::string& text) {
    std::int64_t found = 0;
    const char* last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, found);
    constexpr std::string_view units = "KMGT";
    const bool scaled = error == std::errc{} && end + 1 == last && units.find(*end) != units.npos;
    if (error != std::errc{} || (end != last && !scaled))
        throw UsageError("invalid value of --" + name + ": '" + text + "' (a whole number, such as 64M)");
    if (!scaled) return found;
    const int shift = 10 * static_cast<int>(units.find(*end) + 1);
    if (found < 0 || found > (INT64_MAX >> shift))
        throw UsageError("--" + name + " " + text + " is too large");
    return found << shift;
}

} // namespace assay::kernels
