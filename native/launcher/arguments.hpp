#pragma once

#include "launcher/documents/plan.hpp"
#include "launcher/process/caller.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay {

enum class Verb { run, probe, clean_up, recover, prefork, helper, version, help };

/// A file, named by its number or by its path ("-" is standard input or output).
struct FileArgument {
    int fd = -1;
    std::string path;
};

struct Arguments {
    Verb verb = Verb::run;
    std::optional<FileArgument> plan;
    std::optional<FileArgument> record;
    std::optional<FileArgument> socket; // of the caller that asks for launches ahead, or for help
    std::optional<FileArgument> system; // the same, for what changes the system
    std::optional<Caller> caller;       // whom a helper works for
    std::vector<std::string> command;   // where there is no plan; of a helper, what changes the system
    ContainmentMode containment = ContainmentMode::automatic;
    std::optional<std::string> cgroup_root; // these three: of the plan whose keeper was killed
    std::optional<std::string> cgroup_parent;
    std::optional<std::string> cgroup_name;
    std::string error; // not empty: the command line cannot be used
};

Arguments parse_arguments(int argc, char** argv);

extern const char usage_text[];

} // namespace assay
