#include "launcher/arguments.hpp"

#include <charconv>
#include <string_view>

namespace assay {

const char usage_text[] =
    "usage: assay-exec --plan-fd N --record-fd M\n"
    "       assay-exec --plan FILE --record FILE   (- is standard input / output)\n"
    "       assay-exec [--record FILE] [--containment auto|cgroup|none] -- COMMAND ARG...\n"
    "       assay-exec --ahead SOCKET\n"
    "       assay-exec --helper SOCKET --caller UID:GID:GROUPS [--system SOCKET -- PROGRAM ARG...]\n"
    "       assay-exec --probe | --sweep | --version | --help\n";

namespace {

FileArgument by_number(Arguments& arguments, std::string_view option, std::string_view text) {
    FileArgument file;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), file.fd);
    if (error != std::errc{} || end != text.data() + text.size() || file.fd < 0) {
        arguments.error = std::string(option) + " requires the number of an open file descriptor";
    }
    return file;
}

} // namespace

Arguments parse_arguments(int argc, char** argv) {
    Arguments arguments;
    int i = 1;
    for (; i < argc && arguments.error.empty(); ++i) {
        const std::string_view option = argv[i];
        if (option == "--") {
            arguments.command.assign(argv + i + 1, argv + argc);
            break;
        }
        if (option == "--probe") {
            arguments.verb = Verb::probe;
        } else if (option == "--sweep") {
            arguments.verb = Verb::clean_up;
        } else if (option ==
                   "--take-over") { // internal: the launcher executes this after its supervisor was killed
            arguments.verb = Verb::recover;
        } else if (option == "--version") {
            arguments.verb = Verb::version;
        } else if (option == "--help") {
            arguments.verb = Verb::help;
        } else if (i + 1 >= argc) {
            arguments.error = "invalid argument \"" + std::string(option) + "\"; a command follows --";
        } else if (option == "--plan-fd") {
            arguments.plan = by_number(arguments, option, argv[++i]);
        } else if (option == "--record-fd") {
            arguments.record = by_number(arguments, option, argv[++i]);
        } else if (option == "--ahead") {
            arguments.verb = Verb::prefork;
            arguments.socket = by_number(arguments, option, argv[++i]);
        } else if (option == "--helper") {
            arguments.verb = Verb::helper;
            arguments.socket = by_number(arguments, option, argv[++i]);
        } else if (option == "--system") {
            arguments.system = by_number(arguments, option, argv[++i]);
        } else if (option == "--caller") {
            arguments.caller = parse_caller(argv[++i]);
            if (!arguments.caller)
                arguments.error = "--caller requires the numeric ids of a user other than root";
        } else if (option == "--plan") {
            arguments.plan = FileArgument{-1, argv[++i]};
        } else if (option == "--record") {
            arguments.record = FileArgument{-1, argv[++i]};
        } else if (option == "--cgroup-root") {
            arguments.cgroup_root = argv[++i];
        } else if (option == "--cgroup-parent") {
            arguments.cgroup_parent = argv[++i];
        } else if (option == "--cgroup-name") {
            arguments.cgroup_name = argv[++i];
        } else if (option == "--containment") {
            const auto choice = parse_containment_mode(argv[++i]);
            if (choice)
                arguments.containment = *choice;
            else
                arguments.error = "--containment must be auto, cgroup or none";
        } else {
            arguments.error = "unknown option \"" + std::string(option) + "\"";
        }
    }
    if (arguments.error.empty() && arguments.verb == Verb::run &&
        arguments.plan.has_value() != arguments.command.empty()) {
        arguments.error = arguments.plan ? "give either a plan or a command, not both"
                                         : "no program to run; give a plan, or a command after --";
    }
    if (arguments.error.empty() && arguments.verb == Verb::helper && !arguments.caller) {
        arguments.error = "--helper requires --caller";
    }
    return arguments;
}

} // namespace assay
