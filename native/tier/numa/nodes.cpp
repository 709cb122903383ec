#include "tier/numa/nodes.hpp"

#include "common/cpulist.hpp"
#include "common/files.hpp"

#include <fcntl.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <sstream>
#include <string_view>

namespace assay::tier {

namespace {

/// Read a list of numbers; empty if the file is missing. Recorded files may end with a null byte.
std::vector<int> read_list(const std::string& path) {
    const std::optional<std::string> text = read_file(AT_FDCWD, path.c_str());
    return text ? parse_cpulist(text->c_str()).value_or(std::vector<int>()) : std::vector<int>();
}

std::vector<int> common(const std::vector<int>& some, const std::vector<int>& others) {
    std::vector<int> both;
    std::ranges::set_intersection(some, others, std::back_inserter(both));
    return both;
}

/// Return the nodes that the cpuset of this process allows, if known.
std::optional<std::vector<int>> allowed_nodes(const std::string& root) {
    const std::optional<std::string> status = read_file(AT_FDCWD, (root + "/proc/self/status").c_str());
    const auto found = line_after(status ? *status : "", "Mems_allowed_list");
    return found ? parse_cpulist(found->substr(0, found->find('\n'))) : std::nullopt;
}

/// Read the distances of a node to all online nodes, in their order.
std::vector<int> read_distances(const std::string& path) {
    std::istringstream text(read_file(AT_FDCWD, path.c_str()).value_or(""));
    return {std::istream_iterator<int>(text), std::istream_iterator<int>()};
}

} // namespace

Nodes Nodes::below(const std::string& root) {
    const std::string top = root + "/sys/devices/system/node";
    const std::vector<int> online = read_list(top + "/online");
    const auto file_of = [&top](int node, const char* name) {
        return top + "/node" + std::to_string(node) + "/" + name;
    };
    Nodes found;
    std::vector<int> usable = read_list(top + "/has_memory");
    if (usable.empty()) usable = read_list(top + "/has_normal_memory"); // Older kernels lack has_memory.
    usable = common(usable, online);
    if (usable.size() < 2) return found;
    if (const auto allowed_here = allowed_nodes(root); allowed_here) usable = common(usable, *allowed_here);
    const std::vector<int> with_cpus = common(usable, read_list(top + "/has_cpu"));
    if (!with_cpus.empty()) usable = with_cpus;
    if (usable.size() < 2) return found;
    usable.resize(std::min(usable.size(), max));
    found.numbers_ = usable;

    for (const int from : online) {
        const std::vector<int> distances = read_distances(file_of(from, "distance"));
        const auto distance_to = [&](int node) {
            if (node == from) return 0;
            const auto place = static_cast<std::size_t>(std::ranges::find(online, node) - online.begin());
            return place < distances.size() ? distances[place] : std::numeric_limits<int>::max();
        };
        const auto best = std::ranges::min_element(usable, {}, distance_to) - usable.begin();
        for (const int cpu : read_list(file_of(from, "cpulist"))) {
            const auto number = static_cast<std::size_t>(cpu);
            if (number >= found.nearest_.size()) found.nearest_.resize(number + 1);
            found.nearest_[number] = static_cast<Node>(best);
        }
    }
    return found;
}

std::optional<Node> Nodes::find(int number) const {
    const auto place = std::ranges::find(numbers_, number) - numbers_.begin();
    return static_cast<std::size_t>(place) < numbers_.size() ? std::optional(static_cast<Node>(place))
                                                             : std::nullopt;
}

std::optional<Node> Nodes::nearest(int cpu) const {
    const auto number = static_cast<std::size_t>(cpu);
    return cpu >= 0 && number < nearest_.size() ? nearest_[number] : std::nullopt;
}

} // namespace assay::tier
