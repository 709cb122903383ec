#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay::tier {

/// One of those that Nodes found, counted from 0 on.
enum class Node : std::uint8_t {};

[[nodiscard]] constexpr std::size_t index(Node node) {
    return static_cast<std::size_t>(node);
}

/// NUMA nodes that memory is to come from: those that have memory and CPUs, and that this process may use
/// (mems_allowed of its cpuset).
///
/// A node without CPUs is no DRAM (CXL, high-bandwidth memory, a GPU's), and is taken only where there is no
/// other. Who wants it says so by a memory policy.
class Nodes {
  public:
    static constexpr std::size_t max = 64;

    /// One, that all memory comes from.
    Nodes() = default;
    /// Those that sysfs and procfs tell of; one where they do not.
    ///
    /// \param root the folder below which they are mounted.
    [[nodiscard]] static Nodes below(const std::string& root);

    [[nodiscard]] std::size_t size() const { return numbers_.size(); }
    /// As the kernel counts it.
    [[nodiscard]] int number(Node node) const { return numbers_[index(node)]; }
    /// The one that the kernel counts so, where it is one of these.
    [[nodiscard]] std::optional<Node> find(int number) const;
    /// The one that is nearest to a CPU, where that is known.
    [[nodiscard]] std::optional<Node> nearest(int cpu) const;

  private:
    std::vector<int> numbers_{0};
    std::vector<std::optional<Node>> nearest_; ///< By CPU.
};

} // namespace assay::tier
