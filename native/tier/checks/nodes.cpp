/// Print the NUMA nodes for frames, of this machine or of a recorded one.
///
///     assay-tier-nodes [ROOT]
///
/// Prints one line of JSON: the node numbers, the nearest node of each CPU, and on this machine the CPU of
/// this thread as the pager locates it.

#include "tier/numa/nodes.hpp"

#include "tier/numa/thread_locator.hpp"

#include <unistd.h>

#include <cstdio>
#include <string>

int main(int argc, char** argv) {
    using namespace assay::tier;
    constexpr int max_cpus = 8192;
    const Nodes nodes = Nodes::below(argc > 1 ? argv[1] : "");
    std::string numbers, nearest;
    const auto add = [](std::string& list, const std::string& item) {
        list += (list.empty() ? "" : ",") + item;
    };
    for (std::size_t i = 0; i < nodes.size(); ++i)
        add(numbers, std::to_string(nodes.number(static_cast<Node>(i))));
    for (int cpu = 0; cpu < max_cpus; ++cpu)
        if (const auto node = nodes.nearest(cpu); node)
            add(nearest, "\"" + std::to_string(cpu) + "\":" + std::to_string(nodes.number(*node)));
    const int cpu = ThreadLocator().last_cpu(::gettid()).value_or(-1);
    std::printf("{\"nodes\":[%s],\"nearest\":{%s},\"cpu\":%d}\n", numbers.c_str(), nearest.c_str(), cpu);
    return 0;
}
