#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay::tier {

/// Index of a node in Nodes.
enum class Node : std::uint8_t {};

[[nodiscard]] constexpr std::size_t index(Node node) {
    return static_cast<std::size_t>(node);
}

/// NUMA nodes to allocate from: those with memory and CPUs that this process may use (mems_allowed of its
/// cpuset).
///
/// Memory of a node without CPUs is not DRAM (CXL, high-bandwidth memory, GPU memory), and is used only if no
/// other node exists. A memory policy can request it.
class Nodes {
  public:
    static constexpr std::size_t max = 64;

    /// Create a single node.
    Nodes() = default;
    /// Read the nodes from sysfs and procfs; a single node if they are not available.
    ///
    /// \param root directory below which both are mounted.
    [[nodiscard]] static Nodes below(const std::string& root);

    [[nodiscard]] std::size_t size() const { return numbers_.size(); }
    /// Return the number of a node in the kernel.
    [[nodiscard]] int number(Node node) const { return numbers_[index(node)]; }
    /// Return the node with a number of the kernel, if it is one of these.
    [[nodiscard]] std::optional<Node> find(int number) const;
    /// Return the node nearest to a CPU, if known.
    [[nodiscard]] std::optional<Node> nearest(int cpu) const;

  private:
    std::vector<int> numbers_{0};
    std::vector<std::optional<Node>> nearest_; ///< Nearest node for each CPU.
};

} // namespace assay::tier
