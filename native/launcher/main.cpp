#include "common/fd.hpp"
#include "common/files.hpp"
#include "launcher/arguments.hpp"
#include "launcher/containment/cleanup.hpp"
#include "launcher/documents/record.hpp"
#include "launcher/probe.hpp"
#include "launcher/process/caller.hpp"
#include "launcher/supervisor/launcher.hpp"
#include "launcher/supervisor/prefork.hpp"
#include "launcher/supervisor/privileged_helper.hpp"
#include "launcher/supervisor/recovery.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <string_view>

namespace {

using namespace assay;

constexpr int unusable = 125;

int complain(const std::string& text) {
    static_cast<void>(write_all(STDERR_FILENO, "assay-exec: " + text + '\n'));
    return unusable;
}

/// Files that we open must not land on 0, 1 or 2, which the program inherits.
void fill_standard_files() {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
        if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF) static_cast<void>(::open("/dev/null", O_RDWR));
    }
}

Fd open_argument(const FileArgument& file, int flags, int standard) {
    if (file.path == "-") return Fd{::fcntl(standard, F_DUPFD_CLOEXEC, 3)};
    if (!file.path.empty()) return Fd{::open(file.path.c_str(), flags | O_CLOEXEC, 0600)};
    if (::fcntl(file.fd, F_SETFD, FD_CLOEXEC) != 0) return {};
    return Fd{file.fd};
}

std::string plan_text(const FileArgument& file) {
    const RightsOfCaller rights;
    const Fd fd = open_argument(file, O_RDONLY, STDIN_FILENO);
    auto text = fd ? read_to_end(fd.get(), longest_plan) : std::nullopt;
    if (!text) throw PlanError(std::string("plan: cannot be read: ") + std::strerror(errno));
    return std::move(*text);
}

/// While it is locked somebody is left who may write it, or ends the tree first: front and keeper hold the
/// lock together, for it belongs to their common file table.
void hold_record(int record) {
    struct flock whole{};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    static_cast<void>(::fcntl(record, F_SETLK, &whole)); // a pipe takes none
}

int sweep_host() {
    std::string why;
    const auto hierarchies = Hierarchies::find(Plan{}.cgroup_root, why);
    const int swept = hierarchies ? sweep(*hierarchies) : 0;
    return write_all(STDOUT_FILENO, std::to_string(swept) + '\n') == 0 ? 0 : unusable;
}

int succeed(const Arguments& arguments) {
    ::prctl(PR_SET_NAME, "assay-exec");
    std::optional<Fd> record;
    if (arguments.record) record = open_argument(*arguments.record, O_WRONLY, STDOUT_FILENO);
    Plan plan;
    plan.containment = arguments.containment;
    plan.cgroup_root = arguments.cgroup_root.value_or(plan.cgroup_root);
    plan.cgroup_parent = arguments.cgroup_parent;
    plan.cgroup_name = arguments.cgroup_name;
    return take_over(plan, record);
}

int run(Launch& launch, const Arguments& arguments) {
    if (launch.record) hold_record(launch.record->get());
    try {
        if (arguments.plan) {
            launch.plan = parse_plan(plan_text(*arguments.plan));
            if (works_for_another()) demand_bounded(launch.plan);
        } else {
            launch.plan.argv = arguments.command;
            launch.plan.containment = arguments.containment;
        }
    } catch (const PlanError& error) {
        Result result;
        result.outcome = Outcome::bad_plan;
        result.failure = Failure{"plan", 0, error.what()};
        return deliver_unstarted(result, launch);
    }
    return run_launch(launch);
}

int run_asked(const Arguments& arguments, char** environment) {
    Launch launch;
    launch.environment = environment;
    ::sigprocmask(SIG_SETMASK, nullptr, &launch.caller_signals);
    if (arguments.record) {
        const RightsOfCaller rights;
        launch.record = open_argument(*arguments.record, O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
        if (!*launch.record) return complain(std::string("cannot open the record: ") + std::strerror(errno));
    }
    return run(launch, arguments);
}

int run_ahead(const Arguments& arguments, char** environment) {
    if (::fcntl(arguments.socket->fd, F_SETFD, FD_CLOEXEC) != 0)
        return complain(std::string("cannot use the socket: ") + std::strerror(errno));
    auto order = stand_by(Fd{arguments.socket->fd});
    if (!order) return 0;
    Launch launch;
    launch.environment = environment;
    launch.caller_signals = order->caller_signals;
    launch.containment = std::move(order->containment);
    launch.record = std::move(order->record);
    Arguments plan;
    plan.plan = FileArgument{order->plan.release(), {}};
    return run(launch, plan);
}

int carry_out(const Arguments& arguments, char** environment) {
    switch (arguments.verb) {
    case Verb::help:
        return write_all(STDOUT_FILENO, usage_text) == 0 ? 0 : unusable;
    case Verb::version:
        return write_all(STDOUT_FILENO, "assay-exec " ASSAY_VERSION "\n") == 0 ? 0 : unusable;
    case Verb::probe:
        return write_all(STDOUT_FILENO, probe_host()) == 0 ? 0 : unusable;
    case Verb::sweep:
        return sweep_host();
    case Verb::take_over:
        return succeed(arguments);
    case Verb::ahead:
        return run_ahead(arguments, environment);
    case Verb::helper: // no errand of a helper
    case Verb::run:
        break;
    }
    return run_asked(arguments, environment);
}

/// Of a child of the helper, what it has done.
int be_helper(const Arguments& arguments, char** words) {
    ::prctl(PR_SET_NAME, "assay-helper");
    SystemPart part;
    if (arguments.system) {
        if (::fcntl(arguments.system->fd, F_SETFD, FD_CLOEXEC) != 0)
            return complain(std::string("cannot use the socket: ") + std::strerror(errno));
        part.socket = Fd{arguments.system->fd};
    }
    for (; *words != nullptr; ++words) part.argv.push_back(*words);
    part.argv.push_back(nullptr);
    if (::fcntl(arguments.socket->fd, F_SETFD, FD_CLOEXEC) != 0)
        return complain(std::string("cannot use the socket: ") + std::strerror(errno));
    auto errand = help(Fd{arguments.socket->fd}, *arguments.caller, std::move(part));
    if (!errand) return 0;
    ::prctl(PR_SET_NAME, "assay-exec");
    return carry_out(errand->arguments, errand->environ.data());
}

} // namespace

int main(int argc, char** argv) {
    fill_standard_files();
    const Arguments arguments = parse_arguments(argc, argv);
    if (!arguments.error.empty()) return complain(arguments.error + '\n' + usage_text);
    if (arguments.verb == Verb::helper) return be_helper(arguments, argv + argc - arguments.command.size());
    return carry_out(arguments, environ);
}
