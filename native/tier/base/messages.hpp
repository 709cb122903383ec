#pragma once

#include <initializer_list>
#include <string_view>

namespace assay::tier {

/// Print one line to standard error without allocating memory or taking locks of the C library.
void print_message(std::initializer_list<std::string_view> words);

/// Print one line to standard error and abort, because the program would continue with wrong data.
[[noreturn]] void abort_with_message(std::initializer_list<std::string_view> words);

} // namespace assay::tier
