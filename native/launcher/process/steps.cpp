#include "launcher/process/steps.hpp"

#include "common/affinity.hpp"
#include "common/raw.hpp"
#include "launcher/process/caller.hpp"

#include <linux/seccomp.h>
#include <sched.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>

namespace assay {

namespace {

/// struct sched_attr of linux/sched/types.h in Linux 3.14. Older C libraries lack it, newer ones define it
/// twice.
struct DeadlineAttributes {
    std::uint32_t size = 48;
    std::uint32_t policy = SCHED_DEADLINE;
    std::uint64_t flags = 0;
    std::int32_t nice = 0;
    std::uint32_t priority = 0;
    std::uint64_t runtime_ns = 0;
    std::uint64_t deadline_ns = 0;
    std::uint64_t period_ns = 0;
};
static_assert(sizeof(DeadlineAttributes) == 48);

constexpr std::uint64_t reset_on_fork = 1; // SCHED_FLAG_RESET_ON_FORK

constexpr std::size_t word_bits = sizeof(unsigned long) * CHAR_BIT;

std::size_t words_for(int max_number) {
    return static_cast<std::size_t>(max_number) / word_bits + 1;
}

void set_bits(unsigned char* bytes, const std::vector<int>& numbers) {
    for (const int n : numbers) {
        const auto bit = static_cast<std::size_t>(n);
        unsigned long word = 0;
        std::memcpy(&word, bytes + bit / word_bits * sizeof word, sizeof word);
        word |= 1UL << (bit % word_bits);
        std::memcpy(bytes + bit / word_bits * sizeof word, &word, sizeof word);
    }
}

} // namespace

unsigned char* Steps::allocate_bytes(std::size_t size) {
    auto& block = memory_.emplace_back((size + sizeof(unsigned long) - 1) / sizeof(unsigned long));
    return reinterpret_cast<unsigned char*>(block.data());
}

void Steps::add(std::string name, long number, std::array<long, 5> args) {
    Step step;
    step.name = std::move(name);
    step.number = number;
    step.args = args;
    steps_.push_back(std::move(step));
}

void Steps::add_internal(std::string name, long number, std::array<long, 5> args) {
    add(std::move(name), number, args);
    steps_.back().from_plan = false;
}

void Steps::add_join(int fd) {
    add_internal("containment", SYS_write, {fd, raw::as_long("0"), 1});
}

void Steps::add_stdio(const char* name, int fd, int target) {
    add(name, SYS_dup3, {fd, target, 0});
}

void Steps::add_plan(const Plan& plan) {
    if (!plan.affinity.empty()) add_affinity(plan.affinity);
    if (plan.mempolicy) add_mempolicy(*plan.mempolicy);
    add_sched(plan.sched);
    if (plan.io_priority) add_io_priority(*plan.io_priority);
    for (const auto& call : plan.prctls) {
        const auto arg = [&](std::size_t i) { return static_cast<long>(call.args[i]); };
        add("prctl", SYS_prctl, {call.option, arg(0), arg(1), arg(2), arg(3)});
    }
    if (plan.aslr) {
        constexpr unsigned long only_query = 0xffffffff;
        auto persona = static_cast<unsigned long>(::personality(only_query));
        if (*plan.aslr)
            persona &= ~static_cast<unsigned long>(ADDR_NO_RANDOMIZE);
        else
            persona |= ADDR_NO_RANDOMIZE;
        add("aslr", SYS_personality, {static_cast<long>(persona)});
    }
    if (plan.own_view) add_view(plan.affinity.empty() ? own_affinity() : plan.affinity);
    if (plan.no_core_files) add_no_core();
    // Last, because a limit may be too small for the other steps.
    for (const auto& call : plan.rlimits) add_rlimit(call);
    if (acts_for_another_user()) add_caller();
    if (plan.cwd) add("cwd", SYS_chdir, {raw::as_long(plan.cwd->c_str())});
    // After the change of user: all steps before it run as root.
    if (plan.affinity_calls != AffinityCalls::allowed) add_affinity_calls(plan.affinity_calls);
}

void Steps::add_caller_signals(bool ignores_children, const sigset_t& blocked) {
    constexpr long kernel_sigset_size = 8;
    if (ignores_children) {
        static const long ignore[4] = {1 /* SIG_IGN */, 0, 0, 0}; // the kernel's struct sigaction
        add_internal("signals", SYS_rt_sigaction, {SIGCHLD, raw::as_long(ignore), 0, kernel_sigset_size});
    }
    add_internal("signals", SYS_rt_sigprocmask, {SIG_SETMASK, raw::as_long(&blocked), 0, kernel_sigset_size});
}

void Steps::add_caller() {
    const auto uid = static_cast<long>(::getuid());
    add_internal("user", SYS_setresuid, {uid, uid, uid}); // the groups are already those of the caller
    add_parent_death();                                   // cleared by the change of user
}

void Steps::add_parent_death() {
    add_internal("parent_death", SYS_prctl, {PR_SET_PDEATHSIG, SIGKILL});
}

void Steps::add_affinity(const std::vector<int>& cpus) {
    // sched_getaffinity needs room for every CPU of the kernel configuration, at most 8192.
    const std::size_t size = std::max(words_for(cpus.back()), words_for(8191)) * sizeof(unsigned long);
    unsigned char* requested = allocate_bytes(size);
    set_bits(requested, cpus);
    unsigned char* granted = allocate_bytes(size);
    const auto length = static_cast<long>(size);
    add("affinity", SYS_sched_setaffinity, {0, length, raw::as_long(requested)});
    Step& step = steps_.back();
    step.check_number = SYS_sched_getaffinity;
    step.check_args = {0, length, raw::as_long(granted)};
    step.expected = requested;
    step.actual = granted;
    step.check_length = size;
}

void Steps::add_mempolicy(const MemPolicy& policy) {
    if (policy.nodes.empty()) {
        add("mempolicy", SYS_set_mempolicy, {policy.mode, 0, 0});
        return;
    }
    const std::size_t words = words_for(policy.nodes.back());
    unsigned char* mask = allocate_bytes(words * sizeof(unsigned long));
    set_bits(mask, policy.nodes);
    // The kernel reads one bit less than maxnode (mm/mempolicy.c, get_nodes).
    add("mempolicy", SYS_set_mempolicy,
        {policy.mode, raw::as_long(mask), static_cast<long>(words * word_bits + 1)});
}

void Steps::add_sched(const Sched& sched) {
    if (sched.policy == SCHED_DEADLINE) {
        add_deadline(sched);
    } else if (sched.policy) {
        unsigned char* parameter = allocate_bytes(sizeof(sched_param));
        sched_param requested{};
        requested.sched_priority = sched.priority;
        std::memcpy(parameter, &requested, sizeof requested);
        add("sched.policy", SYS_sched_setscheduler, {0, *sched.policy, raw::as_long(parameter)});
    }
    if (sched.nice) add("sched.nice", SYS_setpriority, {PRIO_PROCESS, 0, *sched.nice});
}

void Steps::add_deadline(const Sched& sched) {
    DeadlineAttributes requested;
    // Without this flag a deadline task cannot fork (sched(7)). Its children and threads get class other.
    requested.flags = reset_on_fork;
    requested.runtime_ns = static_cast<std::uint64_t>(sched.runtime_ns);
    requested.deadline_ns = requested.period_ns = static_cast<std::uint64_t>(sched.period_ns);
    unsigned char* argument = allocate_bytes(sizeof requested);
    std::memcpy(argument, &requested, sizeof requested);
    add("sched.policy", SYS_sched_setattr, {0, raw::as_long(argument), 0});
}

void Steps::add_io_priority(const IoPriority& priority) {
    constexpr long process = 1; // IOPRIO_WHO_PROCESS
    constexpr int class_shift = 13;
    add("io_priority", SYS_ioprio_set, {process, 0, priority.level_class << class_shift | priority.level});
}

void Steps::add_rlimit(const RlimitCall& call) {
    const std::array<std::uint64_t, 2> limits{call.soft, call.hard}; // struct rlimit64
    unsigned char* argument = allocate_bytes(sizeof limits);
    std::memcpy(argument, limits.data(), sizeof limits);
    add("rlimits." + call.name, SYS_prlimit64, {0, call.resource, raw::as_long(argument), 0});
}

void Steps::add_no_core() {
    rlimit64 limit{};
    // A core dump to a program (core_pattern with "|") ignores the limit, except a limit of 1 (core(5)),
    // which is too small for a file as well. The hard limit stays, so that the program may raise its own.
    if (::getrlimit64(RLIMIT_CORE, &limit) != 0 || limit.rlim_max == 0) return;
    unsigned char* argument = allocate_bytes(sizeof limit);
    limit.rlim_cur = 1;
    std::memcpy(argument, &limit, sizeof limit);
    add_internal("core_files", SYS_prlimit64, {0, RLIMIT_CORE, raw::as_long(argument), 0});
}

void Steps::add_view(const std::vector<int>& cpus) {
    add("view", 0, {});
    steps_.back().view = &views_.emplace_back(prepare_view(cpus));
}

bool Steps::shareable() const {
    return std::none_of(views_.begin(), views_.end(),
                        [](const CpuView& view) { return view.needs_user_namespace; });
}

void Steps::add_affinity_calls(AffinityCalls answer) {
    const auto filter = affinity_filter(answer);
    unsigned char* code = allocate_bytes(filter.size() * sizeof filter[0]);
    std::memcpy(code, filter.data(), filter.size() * sizeof filter[0]);
    const sock_fprog program{static_cast<unsigned short>(filter.size()),
                             reinterpret_cast<sock_filter*>(code)};
    unsigned char* argument = allocate_bytes(sizeof program);
    std::memcpy(argument, &program, sizeof program);
    if (!filters_without_no_new_privs()) add_internal("affinity_calls", SYS_prctl, {PR_SET_NO_NEW_PRIVS, 1});
    add("affinity_calls", SYS_seccomp, {SECCOMP_SET_MODE_FILTER, filter_flags(), raw::as_long(argument)});
}

} // namespace assay
