#pragma once

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace assay::tier {

/// Split a comma-separated list of directories.
inline std::vector<std::string> split_paths(std::string_view text) {
    std::vector<std::string> paths;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(','), text.size());
        if (end > 0) paths.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return paths;
}

inline std::string joined_paths(const std::vector<std::string>& paths) {
    std::string text;
    for (const std::string& path : paths) text += (text.empty() ? "" : ",") + path;
    return text;
}

/// Return absolute paths. A path remains unchanged if it does not exist or its absolute form contains a
/// comma.
inline std::vector<std::string> absolute(std::vector<std::string> paths) {
    for (std::string& path : paths) {
        const std::unique_ptr<char, decltype(&std::free)> whole(::realpath(path.c_str(), nullptr),
                                                                &std::free);
        if (whole && std::string_view(whole.get()).find(',') == std::string_view::npos) path = whole.get();
    }
    return paths;
}

} // namespace assay::tier
