#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace assay::tier {

/// Directories as they are named in one word, with commas between them.
inline std::vector<std::string> split_paths(std::string_view text) {
    std::vector<std::string> paths;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(','), text.size());
        if (end > 0) paths.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return paths;
}

} // namespace assay::tier
