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

/// Which NUMA nodes frames come from.
enum class NumaPolicy : std::uint8_t {
    follow, ///< That of the CPU on which a thread runs that touches a chunk, or that it is read ahead for.
    local,  ///< One: that of the CPU on which the pager was made.
    interleave, ///< All of them in turn.
};

/// A word of `local`, `interleave`, `follow`. \throws std::runtime_error, saying which there are.
[[nodiscard]] NumaPolicy parse_numa_policy(std::string_view word);

/// Where new pages of this process's regions are to lie, and where those that there are lie.
///
/// Pages move with what they hold, and are seldom new. So the pager keeps no account of where each is, which
/// the kernel may change at any time (NUMA balancing, a node that is full), but asks; and new ones come from
/// where the policy of the thread says that makes them (set_mempolicy(2)): by a policy for a range of
/// addresses (mbind(2)) each frame would be a mapping of its own, as many of which a process may have as
/// vm.max_map_count says.
///
/// With one node there is nothing to choose, and no system call is made but to learn that. A memory policy
/// that the process was started with (mem.policy, numactl) decides in its place, as if there were one node.
class Placement {
  public:
    /// \param how `follow` where none is named. \param root the folder below which sysfs and procfs are.
    /// \param cpu whose node is the home of frames; the one that this runs on, where none is named.
    explicit Placement(std::optional<NumaPolicy> policy = {}, const std::string& root = "",
                       std::optional<int> cpu = {});
    Placement(const Placement&) = delete;
    Placement& operator=(const Placement&) = delete;

    [[nodiscard]] const Nodes& nodes() const { return nodes_; }
    /// All that this thread does from now on is the pager's.
    void begin_thread() { pager_thread_ = ::pthread_self(); }

    /// Where what a thread touches is wanted, where it is followed.
    [[nodiscard]] Node preferred_node_of(std::uint32_t thread) const;
    /// The same for the thread that runs.
    [[nodiscard]] Node preferred_node_here() const;
    /// Where the next frame is to come from.
    ///
    /// \param wanted where whoever it is for is. \param last where the one before was to come from.
    [[nodiscard]] Node next(Node wanted, Node last) const {
        return policy_ == NumaPolicy::interleave ? static_cast<Node>((index(last) + 1) % nodes_.size())
                                                 : wanted;
    }
    /// Whether memory of another node is to be given up for some of this one.
    [[nodiscard]] bool is_strict(Node node) const;
    /// Where new memory is to come from for a frame that is to be on a node: of those in turn, the one that
    /// least has come from, for what is made anew in other sizes is not what was given up.
    [[nodiscard]] Node allocation_node(Node node) const;
    /// Where a page lies; the home of all where there is none.
    [[nodiscard]] Node of(const std::byte* at) const { return node_of_page(at).value_or(home_); }
    /// New memory came, from a node or from another one, where it has none left.
    void on_allocated(Node wanted, const std::byte* at, std::size_t bytes);
    /// Memory is about to go, or has just gone.
    void on_freed(const std::byte* at, std::size_t bytes);

    /// New pages that this thread makes come from a node, while this is there or longer.
    class Preference {
      public:
        Preference(Placement& placement, Node node);
        Preference(const Preference&) = delete;
        Preference& operator=(const Preference&) = delete;
        ~Preference();

      private:
        static constexpr std::size_t words = 16; ///< For the 1024 nodes of any kernel.
        using Mask = std::array<unsigned long, words>;
        friend class Placement;

        bool restores_ = false; ///< This thread is the program's, and so is its policy.
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
    Node home_{}; ///< Where frames come from where nothing else is known.
    pthread_t pager_thread_{};
    std::optional<Node> current_preference_; ///< By the pager's thread.
    std::array<Nanos, Nodes::max> exhausted_until_{};
    std::array<std::int64_t, Nodes::max> allocated_bytes_{}; ///< That came and have not gone.
    std::optional<ThreadLocator> thread_locator_;            ///< Where threads are followed.
};

} // namespace assay::tier
