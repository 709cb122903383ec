#pragma once

#include "common/clock.hpp"
#include "tier/numa/nodes.hpp"
#include "tier/numa/thread_locator.hpp"

#include <pthread.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay::tier {

/// Choice of NUMA nodes for frames.
enum class NumaPolicy : std::uint8_t {
    follow,     ///< Node of the CPU that the faulting thread runs on, or the thread that a prefetch is for.
    local,      ///< Node of the CPU that created the pager.
    interleave, ///< All nodes in turn.
};

/// Parse `local`, `interleave` or `follow`. \throws std::runtime_error naming the valid words.
[[nodiscard]] NumaPolicy parse_numa_policy(std::string_view word);

/// Chooses NUMA nodes for new pages, and locates existing ones.
///
/// Pages move together with their content and are rarely new. The kernel may migrate them at any time (NUMA
/// balancing, exhausted node), so the pager queries locations instead of recording them. New pages follow the
/// memory policy of the allocating thread (set_mempolicy(2)). With mbind(2) each frame would become a
/// separate mapping, whose number vm.max_map_count limits.
///
/// With a single node no further system calls are made. A memory policy that the program was started with
/// (mem.policy, numactl) takes precedence, as if there were a single node.
class Placement {
  public:
    /// \param policy default: `follow`. \param root directory below which sysfs and procfs are mounted.
    /// \param cpu CPU whose node is the home of frames (default: the current one).
    explicit Placement(std::optional<NumaPolicy> policy = {}, const std::string& root = "",
                       std::optional<int> cpu = {});
    Placement(const Placement&) = delete;
    Placement& operator=(const Placement&) = delete;

    [[nodiscard]] const Nodes& nodes() const { return nodes_; }
    /// Declare the calling thread to be the pager thread.
    void begin_thread() { pager_thread_ = ::pthread_self(); }

    /// Return the node that is preferred for accesses of a thread.
    [[nodiscard]] Node preferred_node_of(std::uint32_t thread) const;
    /// Return the node that is preferred for accesses of the calling thread.
    [[nodiscard]] Node preferred_node_here() const;
    /// Return the node of the next frame.
    ///
    /// \param wanted node of the requesting thread. \param last node that the previous frame was requested
    ///     from.
    [[nodiscard]] Node next(Node wanted, Node last) const {
        return policy_ == NumaPolicy::interleave ? static_cast<Node>((index(last) + 1) % nodes_.size())
                                                 : wanted;
    }
    /// Return true if memory of another node should be freed to allocate from this one.
    [[nodiscard]] bool is_strict(Node node) const;
    /// Return the node to allocate a new frame from. When interleaving, that is the node with the least
    /// memory, because frames of another size do not replace the freed ones exactly.
    [[nodiscard]] Node allocation_node(Node node) const;
    /// Return the node of a page; the home node if the page does not exist.
    [[nodiscard]] Node of(const std::byte* at) const { return node_of_page(at).value_or(home_); }
    /// Account newly allocated memory, which may lie on another node if the wanted one is exhausted.
    void on_allocated(Node wanted, const std::byte* at, std::size_t bytes);
    /// Account memory that is about to be freed, or was just freed.
    void on_freed(const std::byte* at, std::size_t bytes);

    /// Memory policy of the calling thread that prefers a node, in force for at least the lifetime of the
    /// object.
    class Preference {
      public:
        Preference(Placement& placement, Node node);
        Preference(const Preference&) = delete;
        Preference& operator=(const Preference&) = delete;
        ~Preference();

      private:
        static constexpr std::size_t words = 16; ///< Enough for 1024 nodes, the maximum of any kernel.
        using Mask = std::array<unsigned long, words>;
        friend class Placement;

        bool restores_ = false; ///< The thread belongs to the program, and so does its policy.
        int mode_ = 0;
        Mask mask_{};
    };
    [[nodiscard]] Preference prefer(Node node) { return {*this, node}; }

  private:
    [[nodiscard]] static const char* reason_unavailable();
    [[nodiscard]] std::optional<Node> node_of(std::uint32_t thread) const;
    [[nodiscard]] std::optional<Node> node_of_page(const std::byte* at) const;

    Nodes nodes_;
    NumaPolicy policy_ = NumaPolicy::local;
    Node home_{}; ///< Default node of frames.
    pthread_t pager_thread_{};
    std::optional<Node> current_preference_; ///< Current preference of the pager thread.
    std::array<Nanos, Nodes::max> exhausted_until_{};
    std::array<std::int64_t, Nodes::max> allocated_bytes_{}; ///< Allocated and not freed, by node.
    std::optional<ThreadLocator> thread_locator_;            ///< Only with NumaPolicy::follow.
};

} // namespace assay::tier
