// What the native examples share: reading whole numbers and reals from a command line.
#pragma once

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace examples {

// Ends the program for bad input, with the status that command lines use for it.
[[noreturn]] inline void refuse(const char* program, std::string_view what, std::string_view why) {
    std::fprintf(stderr, "%s: %.*s: %.*s\n", program, static_cast<int>(what.size()), what.data(),
                 static_cast<int>(why.size()), why.data());
    std::exit(2);
}

// `text` as a number from `least` to `most`; anything else ends the program.
template <typename Number>
Number number(const char* program, std::string_view flag, std::string_view text, Number least, Number most) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !(least <= value && value <= most))
        refuse(program, flag, "not a number in its range");
    return value;
}

} // namespace examples
