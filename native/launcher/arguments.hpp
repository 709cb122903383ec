#pragma once

#include "launcher/documents/plan.hpp"
#include "launcher/process/caller.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay {

enum class Verb { run, probe, clean_up, recover, prefork, helper, version, help };

/// A file given by descriptor number or by path ("-" is standard input or output).
struct FileArgument {
    int fd = -1;
    std::string path;
};

struct Arguments {
    Verb verb = Verb::run;
    std::optional<FileArgument> plan;
    std::optional<FileArgument> record;
    std::optional<FileArgument> socket; // of the caller that requests preforked launchers or helper tasks
    std::optional<FileArgument> system; // socket of the system settings server
    std::optional<Caller> caller;       // user that the helper acts for
    std::vector<std::string>
        command; // program to run without a plan; for a helper, command line of the system settings server
    ContainmentMode containment = ContainmentMode::automatic;
    // Keys of the plan whose supervisor was killed; for `recover` only.
    std::optional<std::string> cgroup_root;
    std::optional<std::string> cgroup_parent;
    std::optional<std::string> cgroup_name;
    std::string error; // not empty: the command line is invalid
};

Arguments parse_arguments(int argc, char** argv);

extern const char usage_text[];

} // namespace assay
