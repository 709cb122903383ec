#include "tier/numa/placement.hpp"

#include "tier/base/messages.hpp"

#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <span>
#include <stdexcept>

namespace assay::tier {

namespace {

/// Time after which an exhausted node is tried again.
constexpr Nanos retry_after = nanos_per_second;
constexpr std::size_t bits = CHAR_BIT * sizeof(unsigned long);

} // namespace

NumaPolicy parse_numa_policy(std::string_view word) {
    if (word == "follow") return NumaPolicy::follow;
    if (word == "local") return NumaPolicy::local;
    if (word == "interleave") return NumaPolicy::interleave;
    throw std::runtime_error("invalid NUMA policy \"" + std::string(word) +
                             "\": use follow, local or interleave");
}

Placement::Placement(std::optional<NumaPolicy> policy, const std::string& root, std::optional<int> cpu) {
    Nodes found = Nodes::below(root);
    if (found.size() == 1) return;
    if (const char* const why = reason_unavailable(); why != nullptr) {
        if (policy) print_message({"the NUMA policy is not applied: ", why});
        return;
    }
    nodes_ = std::move(found);
    policy_ = policy.value_or(NumaPolicy::follow);
    if (policy_ == NumaPolicy::follow) thread_locator_.emplace();
    home_ = nodes_.nearest(cpu.value_or(::sched_getcpu())).value_or(Node{});
}

/// Return the reason that prevents a choice of nodes; null if there is none.
const char* Placement::reason_unavailable() {
    int mode = 0;
    Preference::Mask mask{};
    if (::syscall(SYS_get_mempolicy, &mode, mask.data(), mask.size() * bits, nullptr, 0UL) != 0)
        return "the kernel or this container forbids it (get_mempolicy(2))";
    const bool none = std::ranges::all_of(mask, [](unsigned long word) { return word == 0; });
    const bool usual = mode == MPOL_DEFAULT || mode == MPOL_LOCAL || (mode == MPOL_PREFERRED && none);
    return usual
               ? nullptr
               : "the program was started with a memory policy (numactl, mem.policy), which takes precedence";
}

std::optional<Node> Placement::node_of(std::uint32_t thread) const {
    const auto number = static_cast<pid_t>(thread);
    if (const std::optional<int> cpu = thread_locator_->last_cpu(number)) return nodes_.nearest(*cpu);
    // Fall back to the affinity of the thread, if it is confined to one node.
    constexpr int max_cpus = 8192;
    std::array<unsigned long, max_cpus / bits> mask{};
    const long bytes = ::syscall(SYS_sched_getaffinity, number, sizeof mask, mask.data());
    std::optional<Node> common;
    for (int cpu = 0; cpu < bytes * CHAR_BIT; ++cpu) {
        const auto place = static_cast<std::size_t>(cpu);
        if ((mask[place / bits] >> place % bits & 1U) == 0) continue;
        const std::optional<Node> one = nodes_.nearest(cpu);
        if (!one || (common && common != one)) return std::nullopt;
        common = one;
    }
    return common;
}

Node Placement::preferred_node_of(std::uint32_t thread) const {
    return policy_ == NumaPolicy::follow ? node_of(thread).value_or(home_) : home_;
}

Node Placement::preferred_node_here() const {
    return policy_ == NumaPolicy::follow ? nodes_.nearest(::sched_getcpu()).value_or(home_) : home_;
}

bool Placement::is_strict(Node node) const {
    return policy_ == NumaPolicy::follow && now_ns(CLOCK_MONOTONIC_COARSE) >= exhausted_until_[index(node)];
}

Node Placement::allocation_node(Node node) const {
    if (policy_ != NumaPolicy::interleave) return node;
    const auto held = std::span(allocated_bytes_).first(nodes_.size());
    const auto min = std::ranges::min_element(held);
    return *min < held[index(node)] ? static_cast<Node>(min - held.begin()) : node;
}

std::optional<Node> Placement::node_of_page(const std::byte* at) const {
    if (nodes_.size() == 1) return home_;
    int number = -1;
    // Without target nodes, move_pages(2) reports the present location.
    const bool located = ::syscall(SYS_move_pages, 0, 1UL, &at, nullptr, &number, 0) == 0;
    return located ? nodes_.find(number) : std::nullopt;
}

void Placement::on_allocated(Node wanted, const std::byte* at, std::size_t bytes) {
    if (nodes_.size() == 1) return;
    const Node from = of(at);
    allocated_bytes_[index(from)] += static_cast<std::int64_t>(bytes);
    if (from != wanted) exhausted_until_[index(wanted)] = now_ns(CLOCK_MONOTONIC_COARSE) + retry_after;
}

void Placement::on_freed(const std::byte* at, std::size_t bytes) {
    if (nodes_.size() == 1) return;
    const std::optional<Node> node = node_of_page(at);
    // Account pages of unknown location to the node with the most memory.
    auto& held = node ? allocated_bytes_[index(*node)] : *std::ranges::max_element(allocated_bytes_);
    held -= static_cast<std::int64_t>(bytes);
}

Placement::Preference::Preference(Placement& placement, Node node) {
    if (placement.nodes_.size() == 1) return;
    const bool own = ::pthread_equal(placement.pager_thread_, ::pthread_self()) != 0;
    if (own && placement.current_preference_ == node) return;
    restores_ = !own && ::syscall(SYS_get_mempolicy, &mode_, mask_.data(), words * bits, nullptr, 0UL) == 0;
    if (!own && !restores_) return;
    Mask wanted{};
    const auto number = static_cast<std::size_t>(placement.nodes_.number(node));
    wanted[number / bits] = 1UL << number % bits;
    // A failure means that the node is no longer allowed; then pages come from the allowed ones.
    ::syscall(SYS_set_mempolicy, MPOL_PREFERRED, wanted.data(), words * bits);
    if (own) placement.current_preference_ = node;
}

Placement::Preference::~Preference() {
    if (restores_) ::syscall(SYS_set_mempolicy, mode_, mask_.data(), words * bits);
}

} // namespace assay::tier
