#include "kernels/frame/node.hpp"

#include "kernels/frame/parameters.hpp"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

namespace assay::kernels {

namespace {

std::string reason_of(int error, int node) {
    if (error == EINVAL)
        return "no NUMA node " + std::to_string(node) +
               " with memory for this process (see /sys/devices/system/node/has_memory)";
    if (error == EIO) return "node " + std::to_string(node) + " does not have enough free memory";
    return "cannot place memory on node " + std::to_string(node) + ": " + std::strerror(error);
}

} // namespace

void place_on_node(void* begin, std::size_t bytes, int node) {
    if (bytes == 0) return;
    constexpr int max_nodes = 1024; // MAX_NUMNODES of any kernel (CONFIG_NODES_SHIFT is at most 10)
    constexpr int bits = 8 * sizeof(unsigned long);
    unsigned long nodes[max_nodes / bits] = {};
    nodes[node / bits] |= 1UL << static_cast<unsigned>(node % bits);
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto first = reinterpret_cast<std::uintptr_t>(begin), from = first / page * page;
    // The kernel uses one bit less than the argument states (get_nodes() in mm/mempolicy.c).
    const long done = syscall(SYS_mbind, from, first + bytes - from, MPOL_BIND, nodes, max_nodes + 1L,
                              MPOL_MF_MOVE | MPOL_MF_STRICT);
    if (done != 0) throw UsageError(reason_of(errno, node));
}

} // namespace assay::kernels
