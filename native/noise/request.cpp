#include "noise/request.hpp"

#include "common/cpulist.hpp"

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

namespace assay::noise {

const char usage_text[] =
    "usage: assay-noise fwq|ftq|selfish [--cpus LIST] [--seconds S] [--quantum-us U] [--threshold-us U]\n"
    "                   [--most N] [--worst N]\n"
    "       assay-noise --version | --help\n";

namespace {

constexpr double max_seconds = 3600.0;
constexpr double min_quantum_us = 1.0;
constexpr double max_quantum_us = 1e6;
constexpr double max_values = 1 << 26;

std::optional<double> number(std::string_view text, double min_value, double max_value) {
    double found = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), found);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(found))
        return std::nullopt;
    if (found < min_value || found > max_value) return std::nullopt;
    return found;
}

std::optional<Method> method_of(std::string_view word) {
    if (word == "fwq") return Method::fixed_work;
    if (word == "ftq") return Method::fixed_time;
    if (word == "selfish") return Method::selfish;
    return std::nullopt;
}

Nanos micros(double value) {
    return std::llround(value * 1e3);
}

/// Set an option. Return an error message, or an empty text on success.
std::string set_option(Request& request, std::string_view option, std::string_view text) {
    if (option == "--cpus") {
        auto cpus = parse_cpulist(text);
        if (!cpus || cpus->empty()) return "--cpus requires a list such as 0-3,8";
        request.cpus = std::move(*cpus);
        return {};
    }
    if (option == "--seconds") {
        const auto s = number(text, 0.01, max_seconds);
        if (!s) return "--seconds requires a number from 0.01 to 3600";
        request.length = from_seconds(*s);
        return {};
    }
    if (option == "--quantum-us") {
        const auto us = number(text, min_quantum_us, max_quantum_us);
        if (!us) return "--quantum-us requires a number from 1 to 1000000";
        request.quantum = micros(*us);
        return {};
    }
    if (option == "--threshold-us") {
        const auto us = number(text, 0.1, max_quantum_us);
        if (!us) return "--threshold-us requires a number from 0.1 to 1000000";
        request.threshold = micros(*us);
        return {};
    }
    if (option == "--most" || option == "--worst") {
        const auto count = number(text, 1.0, max_values);
        if (!count) return std::string(option) + " requires a number from 1 to 67108864";
        (option == "--most" ? request.max_values : request.worst) = static_cast<std::size_t>(*count);
        return {};
    }
    return "unknown option \"" + std::string(option) + "\"";
}

} // namespace

Request parse_request(int argc, char** argv) {
    Request request;
    if (argc < 2) {
        request.error = "name a method: fwq, ftq or selfish";
        return request;
    }
    const std::string_view first = argv[1];
    request.help = first == "--help";
    request.version = first == "--version";
    if (request.help || request.version) return request;
    const auto method = method_of(first);
    if (!method) {
        request.error = "unknown method \"" + std::string(first) + "\"; use fwq, ftq or selfish";
        return request;
    }
    request.method = *method;
    for (int i = 2; i < argc && request.error.empty(); i += 2) {
        request.error = i + 1 < argc ? set_option(request, argv[i], argv[i + 1])
                                     : "\"" + std::string(argv[i]) + "\" requires a value";
    }
    return request;
}

} // namespace assay::noise
