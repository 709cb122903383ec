#include "launcher/process/instance_group.hpp"

#include "common/raw.hpp"
#include "launcher/process/signals.hpp"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <new>

namespace assay {

namespace {

constexpr std::size_t mask_bytes = 1024; // 8192 CPUs, the maximum of the kernel configuration
constexpr int clone_failed = INT_MAX;    // value of `failed_step` if clone failed

} // namespace

struct InstanceGroup::State : Progress {
    std::atomic<pid_t> pid{0};
    std::atomic<bool> mask_read{false}; // `mask` was read after exec
    std::atomic<bool> killed_after_failure{false};
    std::atomic<bool> stopped{false};
    std::atomic<int> status{0};
    std::atomic<Nanos> user{0};
    std::atomic<Nanos> system{0};
    std::atomic<Nanos> ended_ns{0}; // written last
    std::array<unsigned char, mask_bytes> mask{};
};

/// Placed before the array of states.
struct alignas(64) InstanceGroup::Table {
    std::atomic<int> first_failed{-1};
};

InstanceGroup::InstanceGroup(const Launch& launch) : launch_(launch) {
    const Plan& plan = launch.plan;
    for (const auto& instance : plan.instances) members_.emplace_back(plan.of(instance));
    bytes_ = sizeof(Table) + members_.size() * sizeof(State);
    void* memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    table_ = new (memory) Table;
    states_ = reinterpret_cast<State*>(table_ + 1);
    for (std::size_t i = 0; i < members_.size(); ++i) new (states_ + i) State;
}

InstanceGroup::~InstanceGroup() {
    ::munmap(table_, bytes_);
}

InstanceGroup::State& InstanceGroup::state(std::size_t index) const {
    return states_[index];
}

bool InstanceGroup::open(Failure& failure) {
    return std::all_of(members_.begin(), members_.end(),
                       [&](Member& member) { return member.stdio.open(member.plan, failure); });
}

void InstanceGroup::prepare(const ProgressChannel& channel) {
    for (auto& member : members_) {
        auto& steps = member.steps;
        steps.add_parent_death();
        if (member.plan.own_process_group) steps.add_internal("own_process_group", SYS_setpgid, {0, 0});
        member.stdio.add_to(steps, member.plan);
        channel.add_to(steps);
        steps.add_plan(member.plan);
        steps.add_caller_signals(launch_.caller_ignores_children, launch_.caller_signals);
        member.program.emplace(member.plan, launch_.environment);
    }
}

std::vector<int> InstanceGroup::outputs() const {
    std::vector<int> files;
    for (const auto& member : members_) {
        const auto own = member.stdio.outputs();
        files.insert(files.end(), own.begin(), own.end());
    }
    return files;
}

std::vector<int> InstanceGroup::cpus() const {
    std::vector<int> all;
    for (const auto& member : members_) {
        if (member.plan.affinity.empty()) return {};
        all.insert(all.end(), member.plan.affinity.begin(), member.plan.affinity.end());
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

/// The process that starts the instances and waits for them. All signals are blocked in it.
class InstanceGroup::Leader {
  public:
    Leader(InstanceGroup& group, Progress& progress) : group_(group), progress_(progress) {}

    [[nodiscard]] bool run() {
        if (!open()) return false;
        for (std::size_t i = 0; i < group_.members_.size(); ++i) {
            if (!start(i)) break;
        }
        ready_write_.reset();
        while (running_ > 0) poll_events();
        return group_.table_->first_failed.load() < 0;
    }

  private:
    bool open() {
        int ready[2];
        int release_pipe[2];
        signals_ = Fd{static_cast<int>(signal_file(mask_of({SIGCHLD}) | left_signals))};
        if (!signals_ || ::pipe2(ready, O_CLOEXEC) != 0) return fail(0, errno);
        ready_ = Fd{ready[0]};
        ready_write_ = Fd{ready[1]};
        if (::pipe2(release_pipe, O_CLOEXEC) != 0) return fail(0, errno);
        release_ = Fd{release_pipe[0]};
        release_write_ = Fd{release_pipe[1]};
        return true;
    }

    bool start(std::size_t index) {
        const Member& member = group_.members_[index];
        const StartBarrier barrier{ready_write_.get(), release_.get(), release_write_.get()};
        const long pid = fork_program(member.steps, *member.program, group_.state(index), &barrier);
        if (raw::failed(pid)) return fail(index, static_cast<int>(-pid));
        group_.state(index).pid.store(static_cast<pid_t>(pid));
        ++running_;
        return true;
    }

    bool fail(std::size_t index, int error) {
        group_.state(index).failed_errno.store(error);
        group_.state(index).failed_step.store(clone_failed);
        give_up(index);
        return false;
    }

    void poll_events() {
        pollfd ready[2] = {{signals_.get(), POLLIN, 0}, {ready_.get(), POLLIN, 0}};
        if (::poll(ready, 2, -1) <= 0) return;
        // In this order: the mask of an instance must be read before it is reaped.
        if (ready[1].revents != 0) read_ready();
        if (ready[0].revents != 0) read_signals();
    }

    void read_ready() {
        std::array<char, 256> bytes{};
        const ssize_t got = ::read(ready_.get(), bytes.data(), bytes.size());
        if (got > 0) {
            ready_count_ += static_cast<std::size_t>(got);
            if (ready_count_ == group_.members_.size()) release();
        } else if (got == 0) { // every instance has executed its program, which closed the pipe, or has ended
            ready_.reset();
            for (std::size_t i = 0; i < group_.members_.size(); ++i) read_mask(i);
        }
    }

    [[nodiscard]] bool released() const { return !release_write_; }

    void release() {
        release_.reset();
        progress_.started_ns.store(raw::now_ns());
        release_write_.reset(); // the end of file for which all instances wait
    }

    void read_signals() {
        signalfd_siginfo info{};
        bool ended = false;
        while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
            if (info.ssi_signo == SIGCHLD) {
                ended = true;
                continue;
            }
            const int signal = static_cast<int>(info.ssi_signo);
            if ((mask_of({signal}) & left_ending_signals) != 0) end_requested_ = true;
            // A signal from a terminal, or to the process group, has reached the instances too.
            if (info.ssi_pid == static_cast<std::uint32_t>(::getppid())) signal_all(signal);
        }
        if (!ended) return;
        reap();
        update_stopped();
    }

    /// Publish the state to the supervisor, which watches the leader in place of the program.
    void update_stopped() {
        siginfo_t info{};
        while (::waitid(P_ALL, 0, &info, WSTOPPED | WCONTINUED | WNOHANG) == 0 && info.si_pid != 0) {
            if (const auto index = index_of(info.si_pid))
                group_.state(*index).stopped.store(info.si_code != CLD_CONTINUED);
            info.si_pid = 0;
        }
        bool all = running_ > 0;
        for (std::size_t i = 0; i < group_.members_.size(); ++i) {
            const State& state = group_.state(i);
            const bool runs = state.pid.load() != 0 && state.ended_ns.load() == 0;
            if (runs && !state.stopped.load()) all = false;
        }
        if (group_.launch_.shared->all_instances_stopped.exchange(all) != all) ::kill(::getppid(), SIGCHLD);
    }

    void reap() {
        siginfo_t info{};
        while (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0) {
            const Nanos now = raw::now_ns();
            const auto index = index_of(info.si_pid);
            if (index) read_mask(*index);
            int status = 0;
            rusage usage{};
            ::wait4(info.si_pid, &status, 0, &usage);
            if (index) note_end(*index, status, usage, now);
            info.si_pid = 0;
        }
    }

    void note_end(std::size_t index, int status, const rusage& usage, Nanos now) {
        State& state = group_.state(index);
        state.status.store(status);
        state.user.store(to_nanos(usage.ru_utime));
        state.system.store(to_nanos(usage.ru_stime));
        state.ended_ns.store(now);
        --running_;
        if (status != 0 && !state.killed_after_failure.load()) give_up(index);
    }

    /// End all instances after one has failed, because their results are useless. Let them continue if they
    /// are ending on request.
    void give_up(std::size_t index) {
        int none = -1;
        group_.table_->first_failed.compare_exchange_strong(none, static_cast<int>(index));
        if ((end_requested_ || group_.launch_.shared->end_requested.load()) && released()) return;
        for (std::size_t i = 0; i < group_.members_.size(); ++i) {
            State& state = group_.state(i);
            if (state.pid.load() == 0 || state.ended_ns.load() != 0) continue;
            state.killed_after_failure.store(true);
            ::kill(state.pid.load(), SIGKILL); // our child and not reaped: its number cannot have been reused
        }
    }

    void signal_all(int signal) {
        for (std::size_t i = 0; i < group_.members_.size(); ++i) {
            const State& state = group_.state(i);
            if (state.pid.load() != 0 && state.ended_ns.load() == 0) ::kill(state.pid.load(), signal);
        }
    }

    void read_mask(std::size_t index) {
        State& state = group_.state(index);
        const bool runs = state.started_ns.load() != 0 && state.failed_step.load() < 0;
        if (state.mask_read.load() || !runs || state.pid.load() == 0 || state.ended_ns.load() != 0) return;
        const long got = ::syscall(SYS_sched_getaffinity, state.pid.load(), mask_bytes, state.mask.data());
        if (got > 0) state.mask_read.store(true);
    }

    [[nodiscard]] std::optional<std::size_t> index_of(pid_t pid) const {
        for (std::size_t i = 0; i < group_.members_.size(); ++i) {
            if (group_.state(i).pid.load() == pid) return i;
        }
        return std::nullopt;
    }

    InstanceGroup& group_;
    Progress& progress_;
    Fd signals_;
    Fd ready_;
    Fd ready_write_;
    Fd release_;
    Fd release_write_;
    std::size_t running_ = 0;
    std::size_t ready_count_ = 0;
    bool end_requested_ = false; // a user sent the program a signal whose default action ends it
};

void InstanceGroup::run_leader(Progress& progress) {
    raw::exit(Leader(*this, progress).run() ? 0 : 1);
}

std::optional<int> InstanceGroup::first_failed() const {
    const int index = table_->first_failed.load();
    return index < 0 ? std::nullopt : std::optional<int>(index);
}

std::optional<Failure> InstanceGroup::failure() const {
    const auto index = first_failed();
    if (!index) return std::nullopt;
    const auto place = static_cast<std::size_t>(*index);
    const Member& member = members_[place];
    const int step = state(place).failed_step.load();
    if (step < 0) return std::nullopt;
    const int error = state(place).failed_errno.load();
    const auto& steps = member.steps.all();
    const auto number = static_cast<std::size_t>(step);
    const std::string stage = step == clone_failed     ? "clone"
                              : number == steps.size() ? "exec"
                                                       : steps[number].name;
    return Failure{stage, error,
                   "instance " + std::to_string(*index) + ": " + explain(stage, error, member.plan)};
}

std::optional<int> InstanceGroup::status(std::size_t index) const {
    if (state(index).ended_ns.load() == 0) return std::nullopt;
    return state(index).status.load();
}

std::optional<Nanos> InstanceGroup::ended() const {
    Nanos last = 0;
    for (std::size_t i = 0; i < members_.size(); ++i) {
        const Nanos ended = state(i).ended_ns.load();
        if (ended == 0) return std::nullopt;
        last = std::max(last, ended);
    }
    return last;
}

std::vector<Applied> InstanceGroup::applied() const {
    const auto index = static_cast<std::size_t>(first_failed().value_or(0));
    const State& state = this->state(index);
    const int failed = state.failed_step.load();
    std::vector<Applied> found;
    if (failed == clone_failed || (failed < 0 && state.started_ns.load() == 0)) return found;
    const auto& steps = members_[index].steps.all();
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const bool broke = static_cast<int>(i) == failed;
        if (steps[i].from_plan) found.push_back({steps[i].name, broke ? state.failed_errno.load() : 0, {}});
        if (broke) break;
    }
    return found;
}

std::vector<InstanceReport> InstanceGroup::reports() const {
    std::vector<InstanceReport> found;
    for (std::size_t i = 0; i < members_.size(); ++i) {
        const State& state = this->state(i);
        InstanceReport report;
        report.pid = state.pid.load();
        const Nanos ended = state.ended_ns.load();
        const Nanos started = state.started_ns.load();
        report.killed_after_failure = state.killed_after_failure.load();
        const bool own_end = state.failed_step.load() < 0; // not the end of a child of ours before exec
        if (ended != 0 && own_end) report.status = state.status.load();
        if (ended != 0 && started != 0) {
            report.wall_s = seconds(ended - started);
            report.cpu = CpuTime{state.user.load(), state.system.load()};
        }
        if (state.mask_read.load()) {
            report.cpus.emplace();
            for (std::size_t bit = 0; bit < mask_bytes * CHAR_BIT; ++bit) {
                const auto one = static_cast<unsigned char>(1U << (bit % CHAR_BIT));
                if ((state.mask[bit / CHAR_BIT] & one) != 0) report.cpus->push_back(static_cast<int>(bit));
            }
        }
        found.push_back(std::move(report));
    }
    return found;
}

} // namespace assay
