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

constexpr int unusable_status = 125;

int print_error(const std::string& text) {
    static_cast<void>(write_all(STDERR_FILENO, "assay-exec: " + text + '\n'));
    return unusable_status;
}

/// Keep files that we open off descriptors 0, 1 and 2, which the program inherits.
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
    const CallerPrivileges privileges;
    const Fd fd = open_argument(file, O_RDONLY, STDIN_FILENO);
    auto text = fd ? read_to_end(fd.get(), max_plan_bytes) : std::nullopt;
    if (!text) throw PlanError(std::string("plan: cannot be read: ") + std::strerror(errno));
    return std::move(*text);
}

/// Lock the record for as long as a process lives that may write it or that ends the tree first. The lock
/// belongs to the file table, which launcher and supervisor share.
void lock_record(int record) {
    struct flock whole{};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    static_cast<void>(::fcntl(record, F_SETLK, &whole)); // a pipe cannot be locked
}

int clean_up_host() {
    std::string why;
    const auto hierarchies = Hierarchies::find(Plan{}.cgroup_root, why);
    const int removed = hierarchies ? remove_abandoned_groups(*hierarchies) : 0;
    return write_all(STDOUT_FILENO, std::to_string(removed) + '\n') == 0 ? 0 : unusable_status;
}

int recover_launch(const Arguments& arguments) {
    ::prctl(PR_SET_NAME, "assay-exec");
    std::optional<Fd> record;
    if (arguments.record) record = open_argument(*arguments.record, O_WRONLY, STDOUT_FILENO);
    Plan plan;
    plan.containment = arguments.containment;
    plan.cgroup_root = arguments.cgroup_root.value_or(plan.cgroup_root);
    plan.cgroup_parent = arguments.cgroup_parent;
    plan.cgroup_name = arguments.cgroup_name;
    return recover(plan, record);
}

int run(Launch& launch, const Arguments& arguments) {
    if (launch.record) lock_record(launch.record->get());
    try {
        if (arguments.plan) {
            launch.plan = parse_plan(plan_text(*arguments.plan));
            if (acts_for_another_user()) refuse_privileged_keys(launch.plan);
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

int run_from_arguments(const Arguments& arguments, char** environment) {
    Launch launch;
    launch.environment = environment;
    ::sigprocmask(SIG_SETMASK, nullptr, &launch.caller_signals);
    if (arguments.record) {
        const CallerPrivileges privileges;
        launch.record = open_argument(*arguments.record, O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
        if (!*launch.record)
            return print_error(std::string("cannot open the record: ") + std::strerror(errno));
    }
    return run(launch, arguments);
}

int run_preforked(const Arguments& arguments, char** environment) {
    if (::fcntl(arguments.socket->fd, F_SETFD, FD_CLOEXEC) != 0)
        return print_error(std::string("cannot use the socket: ") + std::strerror(errno));
    auto request = prefork_launchers(Fd{arguments.socket->fd});
    if (!request) return 0;
    Launch launch;
    launch.environment = environment;
    launch.caller_signals = request->caller_signals;
    launch.containment = std::move(request->containment);
    launch.record = std::move(request->record);
    Arguments plan;
    plan.plan = FileArgument{request->plan.release(), {}};
    return run(launch, plan);
}

int dispatch(const Arguments& arguments, char** environment) {
    switch (arguments.verb) {
    case Verb::help:
        return write_all(STDOUT_FILENO, usage_text) == 0 ? 0 : unusable_status;
    case Verb::version:
        return write_all(STDOUT_FILENO, "assay-exec " ASSAY_VERSION "\n") == 0 ? 0 : unusable_status;
    case Verb::probe:
        return write_all(STDOUT_FILENO, probe_host()) == 0 ? 0 : unusable_status;
    case Verb::clean_up:
        return clean_up_host();
    case Verb::recover:
        return recover_launch(arguments);
    case Verb::prefork:
        return run_preforked(arguments, environment);
    case Verb::helper: // handled in main
    case Verb::run:
        break;
    }
    return run_from_arguments(arguments, environment);
}

/// Serve the caller. In a child of the helper, run the requested task.
int run_helper(const Arguments& arguments, char** words) {
    ::prctl(PR_SET_NAME, "assay-helper");
    SystemServer system_server;
    if (arguments.system) {
        if (::fcntl(arguments.system->fd, F_SETFD, FD_CLOEXEC) != 0)
            return print_error(std::string("cannot use the socket: ") + std::strerror(errno));
        system_server.socket = Fd{arguments.system->fd};
    }
    for (; *words != nullptr; ++words) system_server.argv.push_back(*words);
    system_server.argv.push_back(nullptr);
    if (::fcntl(arguments.socket->fd, F_SETFD, FD_CLOEXEC) != 0)
        return print_error(std::string("cannot use the socket: ") + std::strerror(errno));
    auto task = serve_caller(Fd{arguments.socket->fd}, *arguments.caller, std::move(system_server));
    if (!task) return 0;
    ::prctl(PR_SET_NAME, "assay-exec");
    return dispatch(task->arguments, task->environ.data());
}

} // namespace

int main(int argc, char** argv) {
    fill_standard_files();
    const Arguments arguments = parse_arguments(argc, argv);
    if (!arguments.error.empty()) return print_error(arguments.error + '\n' + usage_text);
    if (arguments.verb == Verb::helper) return run_helper(arguments, argv + argc - arguments.command.size());
    return dispatch(arguments, environ);
}
