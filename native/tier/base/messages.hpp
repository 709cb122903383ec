#pragma once

#include <initializer_list>
#include <string_view>

namespace assay::tier {

/// One line to standard error, without memory or locks of the C library.
void print_message(std::initializer_list<std::string_view> words);

/// The same, and the end of the process: what the program would see next is wrong.
[[noreturn]] void abort_with_message(std::initializer_list<std::string_view> words);

} // namespace assay::tier
