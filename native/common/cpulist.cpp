#include "common/cpulist.hpp"

#include <charconv>

namespace assay {

namespace {

constexpr int max_number = 1 << 16;
/// Total limit, because repeated short ranges could otherwise fill the memory.
constexpr std::size_t max_numbers = max_number + 1;

bool take_number(std::string_view& text, int& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || value < 0 || value > max_number) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
}

bool take(std::string_view& text, char wanted) {
    if (text.empty() || text.front() != wanted) return false;
    text.remove_prefix(1);
    return true;
}

} // namespace

std::optional<std::vector<int>> parse_cpulist(std::string_view text) {
    std::vector<int> numbers;
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
    if (text.empty()) return numbers;
    do {
        int first = 0;
        if (!take_number(text, first)) return std::nullopt;
        int last = first;
        if (take(text, '-') && !take_number(text, last)) return std::nullopt;
        if (last >= first && numbers.size() + static_cast<std::size_t>(last - first) >= max_numbers)
            return std::nullopt;
        for (int n = first; n <= last; ++n) numbers.push_back(n);
    } while (take(text, ','));
    if (!text.empty()) return std::nullopt;
    return numbers;
}

std::string format_cpulist(const std::vector<int>& cpus) {
    std::string text;
    for (std::size_t i = 0; i < cpus.size();) {
        std::size_t end = i + 1;
        while (end < cpus.size() && cpus[end] == cpus[end - 1] + 1) ++end;
        if (!text.empty()) text += ',';
        text += std::to_string(cpus[i]);
        if (end - i > 1) text += '-' + std::to_string(cpus[end - 1]);
        i = end;
    }
    return text;
}

std::vector<int> spread(const std::vector<int>& numbers, std::size_t max_count) {
    if (numbers.size() <= max_count) return numbers;
    std::vector<int> some;
    for (std::size_t i = 0; i < max_count; ++i) some.push_back(numbers[i * numbers.size() / max_count]);
    return some;
}

} // namespace assay
