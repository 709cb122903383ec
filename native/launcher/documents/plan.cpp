#include "launcher/documents/plan.hpp"

#include "common/cpulist.hpp"
#include "common/files.hpp"
#include "common/schema.hpp"
#include "launcher/meters/perf_counters.hpp"

#include <fcntl.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

namespace assay {

namespace {

using Json = nlohmann::json;

constexpr std::size_t max_instances = 1024;
constexpr int weighted_interleave = 6; // MPOL_WEIGHTED_INTERLEAVE, Linux 6.9: newer than most headers

/// JSON value with its name for messages.
class Field {
  public:
    Field(std::string name, const Json& value) : name_(std::move(name)), value_(value) {}

    [[noreturn]] void refuse(const std::string& why) const { throw PlanError(name_ + ": " + why); }

    [[nodiscard]] const std::string& name() const { return name_; }

    [[nodiscard]] std::string text() const {
        if (!value_.is_string() && !is_hex()) refuse("must be a string");
        const auto s = value_.is_string() ? value_.get<std::string>() : from_hex();
        if (s.find('\0') != std::string::npos) refuse("contains a NUL byte, which system calls cannot pass");
        return s;
    }

    [[nodiscard]] std::string nonempty_text() const {
        auto s = text();
        if (s.empty()) refuse("must not be empty");
        return s;
    }

    [[nodiscard]] bool boolean() const {
        if (!value_.is_boolean()) refuse("must be true or false");
        return value_.get<bool>();
    }

    [[nodiscard]] std::int64_t integer(std::int64_t low, std::int64_t high) const {
        if (!value_.is_number_integer()) refuse("must be an integer");
        const bool huge = value_.is_number_unsigned() && value_.get<std::uint64_t>() > INT64_MAX;
        const auto n = huge ? INT64_MAX : value_.get<std::int64_t>();
        if (huge || n < low || n > high) {
            refuse("must lie between " + std::to_string(low) + " and " + std::to_string(high));
        }
        return n;
    }

    [[nodiscard]] int small(int low, int high) const { return static_cast<int>(integer(low, high)); }

    [[nodiscard]] std::uint64_t uint64() const {
        if (!value_.is_number_integer()) refuse("must be an integer");
        return value_.is_number_unsigned() ? value_.get<std::uint64_t>()
                                           : static_cast<std::uint64_t>(value_.get<std::int64_t>());
    }

    [[nodiscard]] double positive() const {
        if (!value_.is_number()) refuse("must be a number");
        const auto x = value_.get<double>();
        if (!std::isfinite(x) || x <= 0) refuse("must be above zero");
        return x;
    }

    [[nodiscard]] bool is_null() const { return value_.is_null(); }

    template <typename Each>
    void each_element(Each each) const {
        if (!value_.is_array()) refuse("must be a list");
        std::size_t i = 0;
        for (const auto& element : value_) each(Field(name_ + '[' + std::to_string(i++) + ']', element));
    }

    template <typename Each>
    void each_member(Each each) const {
        if (!value_.is_object()) refuse("must be an object");
        for (const auto& [key, element] : value_.items()) {
            each(key, Field(name_.empty() ? key : name_ + '.' + key, element));
        }
    }

    [[nodiscard]] std::vector<std::string> texts() const {
        std::vector<std::string> all;
        each_element([&](const Field& f) { all.push_back(f.text()); });
        return all;
    }

    [[nodiscard]] std::vector<int> numbers() const {
        std::vector<int> all;
        each_element([&](const Field& f) { all.push_back(f.small(0, 1 << 16)); });
        std::sort(all.begin(), all.end());
        all.erase(std::unique(all.begin(), all.end()), all.end());
        return all;
    }

  private:
    [[nodiscard]] bool is_hex() const {
        return value_.is_object() && value_.size() == 1 && value_.contains("hex") &&
               value_["hex"].is_string();
    }

    /// Decode a string that need not be UTF-8, which JSON strings cannot represent.
    [[nodiscard]] std::string from_hex() const {
        const auto& digits = value_["hex"].get_ref<const std::string&>();
        if (digits.size() % 2 != 0) refuse("has an odd number of hexadecimal digits");
        std::string bytes;
        for (std::size_t i = 0; i < digits.size(); i += 2) {
            unsigned char byte = 0;
            const char* const end = digits.data() + i + 2;
            if (std::from_chars(end - 2, end, byte, 16).ptr != end)
                refuse("must contain hexadecimal digits only");
            bytes += static_cast<char>(byte);
        }
        return bytes;
    }

    std::string name_;
    const Json& value_;
};

struct NamedValue {
    std::string_view name;
    int value;
};

template <std::size_t N>
int look_up(const Field& field, const std::array<NamedValue, N>& table) {
    const auto wanted = field.text();
    std::string known;
    for (const auto& entry : table) {
        if (entry.name == wanted) return entry.value;
        known += (known.empty() ? "" : ", ") + std::string(entry.name);
    }
    field.refuse("\"" + wanted + "\" is not one of " + known);
}

constexpr std::array sched_policies{NamedValue{"other", SCHED_OTHER}, NamedValue{"batch", SCHED_BATCH},
                                    NamedValue{"idle", SCHED_IDLE},   NamedValue{"fifo", SCHED_FIFO},
                                    NamedValue{"rr", SCHED_RR},       NamedValue{"deadline", SCHED_DEADLINE}};

// Linux 5.15 and later have linux/ioprio.h; the calls are older.
constexpr int io_idle = 3;
constexpr std::array io_classes{NamedValue{"realtime", 1}, NamedValue{"best-effort", 2},
                                NamedValue{"idle", io_idle}};

constexpr std::array affinity_answers{NamedValue{"allowed", static_cast<int>(AffinityCalls::allowed)},
                                      NamedValue{"ignored", static_cast<int>(AffinityCalls::ignored)},
                                      NamedValue{"refused", static_cast<int>(AffinityCalls::refused)}};

/// __checkparam_dl() in kernel/sched/deadline.c: the runtime is kept in units of 1024 ns.
constexpr std::int64_t min_runtime_ns = 1024;

constexpr std::array memory_modes{NamedValue{"default", MPOL_DEFAULT},
                                  NamedValue{"local", MPOL_LOCAL},
                                  NamedValue{"bind", MPOL_BIND},
                                  NamedValue{"preferred", MPOL_PREFERRED},
                                  NamedValue{"interleave", MPOL_INTERLEAVE},
                                  NamedValue{"weighted", weighted_interleave}};

constexpr std::array resources{NamedValue{"as", RLIMIT_AS},
                               NamedValue{"core", RLIMIT_CORE},
                               NamedValue{"cpu", RLIMIT_CPU},
                               NamedValue{"data", RLIMIT_DATA},
                               NamedValue{"fsize", RLIMIT_FSIZE},
                               NamedValue{"locks", RLIMIT_LOCKS},
                               NamedValue{"memlock", RLIMIT_MEMLOCK},
                               NamedValue{"msgqueue", RLIMIT_MSGQUEUE},
                               NamedValue{"nice", RLIMIT_NICE},
                               NamedValue{"nofile", RLIMIT_NOFILE},
                               NamedValue{"nproc", RLIMIT_NPROC},
                               NamedValue{"rss", RLIMIT_RSS},
                               NamedValue{"rtprio", RLIMIT_RTPRIO},
                               NamedValue{"rttime", RLIMIT_RTTIME},
                               NamedValue{"sigpending", RLIMIT_SIGPENDING},
                               NamedValue{"stack", RLIMIT_STACK}};

/// Reject numbers that the kernel's list of online CPUs or nodes lacks: sched_setaffinity would drop them
/// silently. Without the list, accept all.
void check_online(const Field& field, const std::vector<int>& wanted, const char* list, const char* noun) {
    if (wanted.empty()) field.refuse(std::string("lists no ") + noun);
    const auto text = read_file(AT_FDCWD, list);
    const auto online = text ? parse_cpulist(*text) : std::nullopt;
    if (!online) return;
    for (const int n : wanted) {
        if (!std::binary_search(online->begin(), online->end(), n)) {
            field.refuse(std::string(noun) + ' ' + std::to_string(n) +
                         " is not online (online: " + format_cpulist(*online) + ")");
        }
    }
}

[[noreturn]] void unknown(const Field& field) {
    field.refuse("unknown key");
}

std::string environment_name(const Field& field, const std::string& name) {
    if (name.empty() || name.find('=') != std::string::npos || name.find('\0') != std::string::npos) {
        field.refuse("\"" + name + "\" is not a valid name of an environment variable");
    }
    return name;
}

MemPolicy read_mempolicy(const Field& field) {
    MemPolicy policy;
    std::optional<Field> mode;
    std::optional<Field> nodes;
    field.each_member([&](const std::string& key, const Field& f) {
        if (key == "mode")
            mode.emplace(f);
        else if (key == "nodes")
            nodes.emplace(f);
        else
            unknown(f);
    });
    if (!mode) field.refuse("needs a mode");
    policy.mode = look_up(*mode, memory_modes);
    if (nodes) policy.nodes = nodes->numbers();
    const bool takes_nodes = policy.mode != MPOL_DEFAULT && policy.mode != MPOL_LOCAL;
    if (!takes_nodes && !policy.nodes.empty()) nodes->refuse("this mode takes no nodes");
    if (takes_nodes) {
        check_online(nodes ? *nodes : field, policy.nodes, "/sys/devices/system/node/online", "node");
        if (policy.mode == MPOL_PREFERRED && policy.nodes.size() > 1) policy.mode = MPOL_PREFERRED_MANY;
    }
    return policy;
}

Sched read_sched(const Field& field) {
    Sched sched;
    std::optional<Field> priority;
    std::optional<Field> times;
    field.each_member([&](const std::string& key, const Field& f) {
        if (key == "policy")
            sched.policy = look_up(f, sched_policies);
        else if (key == "nice")
            sched.nice = f.small(-20, 19);
        else if (key == "priority")
            sched.priority = f.small(0, 99), priority.emplace(f);
        else if (key == "runtime_ns")
            sched.runtime_ns = f.integer(min_runtime_ns, INT64_MAX), times.emplace(f);
        else if (key == "period_ns")
            sched.period_ns = f.integer(min_runtime_ns, INT64_MAX), times.emplace(f);
        else
            unknown(f);
    });
    const bool prioritised = sched.policy == SCHED_FIFO || sched.policy == SCHED_RR;
    if (prioritised && sched.priority == 0) field.refuse("policies fifo and rr need a priority from 1 to 99");
    if (!prioritised && sched.priority != 0) priority->refuse("only policies fifo and rr have a priority");
    const bool deadline = sched.policy == SCHED_DEADLINE;
    if (!deadline && times) times->refuse("only policy deadline has this key");
    if (deadline && (sched.runtime_ns == 0 || sched.period_ns == 0))
        field.refuse("policy deadline needs runtime_ns and period_ns");
    if (sched.runtime_ns > sched.period_ns) field.refuse("runtime_ns is above period_ns");
    if (deadline && sched.nice) field.refuse("policy deadline takes no nice value");
    return sched;
}

IoPriority read_io_priority(const Field& field) {
    IoPriority priority;
    std::optional<Field> name;
    std::optional<Field> level;
    field.each_member([&](const std::string& key, const Field& f) {
        if (key == "class")
            name.emplace(f);
        else if (key == "level")
            level.emplace(f);
        else
            unknown(f);
    });
    if (!name) field.refuse("needs a class");
    priority.level_class = look_up(*name, io_classes);
    if (priority.level_class != io_idle && !level) field.refuse("needs a level from 0 to 7");
    if (priority.level_class == io_idle && level) level->refuse("class idle has no level");
    if (level) priority.level = level->small(0, 7);
    return priority;
}

PrctlCall read_prctl(const Field& field) {
    PrctlCall call;
    std::optional<Field> option;
    field.each_member([&](const std::string& key, const Field& f) {
        if (key == "option")
            option.emplace(f);
        else if (key == "args")
            f.each_element([&](const Field& a) { call.args.push_back(a.uint64()); });
        else
            unknown(f);
    });
    if (!option) field.refuse("needs an option");
    call.option = option->small(0, INT32_MAX);
    if (call.option != PR_SET_THP_DISABLE) option->refuse("only PR_SET_THP_DISABLE (41) is allowed");
    if (call.args.size() > 4) field.refuse("takes at most four args");
    call.args.resize(4);
    return call;
}

RlimitCall read_rlimit(const Field& field) {
    RlimitCall call;
    bool soft = false;
    bool hard = false;
    const auto amount = [](const Field& f) {
        return f.is_null() ? RLIM_INFINITY : static_cast<rlim_t>(f.integer(0, INT64_MAX));
    };
    field.each_member([&](const std::string& key, const Field& f) {
        if (key == "resource")
            call.resource = look_up(f, resources), call.name = f.text();
        else if (key == "soft")
            call.soft = amount(f), soft = true;
        else if (key == "hard")
            call.hard = amount(f), hard = true;
        else
            unknown(f);
    });
    if (call.name.empty() || !soft || !hard) field.refuse("needs resource, soft and hard");
    if (call.soft > call.hard) field.refuse("soft is above hard");
    return call;
}

Limits read_limits(const Field& field) {
    Limits limits;
    field.each_member([&](const std::string& key, const Field& f) {
        if (key == "memory_bytes")
            limits.memory_bytes = f.integer(1, INT64_MAX);
        else if (key == "pids")
            limits.pids = f.integer(1, 1 << 22);
        else if (key == "cpu_s")
            limits.cpu_s = f.positive();
        else if (key == "output_bytes")
            limits.output_bytes = f.integer(0, INT64_MAX);
        else
            unknown(f);
    });
    return limits;
}

ReadbackSources read_readback_sources(const Field& field) {
    ReadbackSources sources;
    static constexpr std::array names{NamedValue{"status", 0}, NamedValue{"environ", 1},
                                      NamedValue{"maps", 2},   NamedValue{"numa_maps", 3},
                                      NamedValue{"smaps", 4},  NamedValue{"threads", 5}};
    const std::array parts{&sources.status,    &sources.environ, &sources.maps,
                           &sources.numa_maps, &sources.smaps,   &sources.threads};
    field.each_element([&](const Field& f) { *parts[static_cast<std::size_t>(look_up(f, names))] = true; });
    return sources;
}

Sampling read_sampling(const Field& field) {
    Sampling sampling{false, false};
    static constexpr std::array names{NamedValue{"memory", 0}, NamedValue{"scheduling", 1}};
    const std::array parts{&sampling.memory, &sampling.scheduling};
    field.each_element([&](const Field& f) { *parts[static_cast<std::size_t>(look_up(f, names))] = true; });
    return sampling;
}

std::vector<std::string> read_counters(const Field& field) {
    field.each_element([](const Field& f) {
        if (PerfCounters::known(f.text())) return;
        std::string known;
        for (const auto& name : PerfCounters::all_names()) known += name + ", ";
        f.refuse('"' + f.text() + "\" is not one of " + known + "default");
    });
    return field.texts();
}

std::string group_path(const Field& field) {
    const auto path = field.text();
    const std::string framed = '/' + path + '/';
    if (framed.find("/../") != std::string::npos) field.refuse("must not leave the hierarchy by \"..\"");
    return path;
}

std::string group_name(const Field& field) {
    auto name = field.nonempty_text();
    if (name.find('/') != std::string::npos || name == "." || name == ".." || name.size() > 200 ||
        name.find('\n') != std::string::npos) {
        field.refuse("must be the name of a folder, of at most 200 bytes");
    }
    return name;
}

Instance read_instance(const Field& field) {
    Instance instance;
    field.each_member([&](const std::string& key, const Field& f) {
        if (key == "argv") {
            instance.argv = f.texts();
            if (instance.argv.empty() || instance.argv.front().empty()) f.refuse("does not name a program");
        } else if (key == "env_set") {
            f.each_member([&](const std::string& name, const Field& value) {
                instance.env_set.emplace_back(environment_name(value, name), value.text());
            });
        } else if (key == "affinity") {
            instance.affinity = f.numbers();
            check_online(f, instance.affinity, "/sys/devices/system/cpu/online", "CPU");
        } else if (key == "stdout") {
            instance.stdout_path = f.nonempty_text();
        } else if (key == "stderr") {
            instance.stderr_path = f.nonempty_text();
        } else {
            unknown(f);
        }
    });
    return instance;
}

void read_member(Plan& plan, const std::string& key, const Field& f) {
    if (key == "schema") {
        if (f.integer(0, INT32_MAX) != schema_version)
            f.refuse("this version of assay-exec supports schema " + std::to_string(schema_version) +
                     " only");
    } else if (key == "argv") {
        plan.argv = f.texts();
        if (plan.argv.empty() || plan.argv.front().empty()) f.refuse("does not name a program");
    } else if (key == "env_set") {
        f.each_member([&](const std::string& name, const Field& value) {
            plan.env_set.emplace_back(environment_name(value, name), value.text());
        });
    } else if (key == "env_unset") {
        f.each_element(
            [&](const Field& name) { plan.env_unset.push_back(environment_name(name, name.text())); });
    } else if (key == "cwd") {
        plan.cwd = f.nonempty_text();
    } else if (key == "stdin") {
        plan.stdin_path = f.nonempty_text();
    } else if (key == "stdout") {
        plan.stdout_path = f.nonempty_text();
    } else if (key == "stderr") {
        plan.stderr_path = f.nonempty_text();
    } else if (key == "progress") {
        plan.progress_path = f.nonempty_text();
        if (!plan.progress_path->starts_with('/'))
            f.refuse("must be an absolute path: the program may change its working folder");
    } else if (key == "affinity") {
        plan.affinity = f.numbers();
        check_online(f, plan.affinity, "/sys/devices/system/cpu/online", "CPU");
    } else if (key == "mempolicy") {
        plan.mempolicy = read_mempolicy(f);
    } else if (key == "sched") {
        plan.sched = read_sched(f);
    } else if (key == "io_priority") {
        plan.io_priority = read_io_priority(f);
    } else if (key == "prctl") {
        f.each_element([&](const Field& call) { plan.prctls.push_back(read_prctl(call)); });
    } else if (key == "view") {
        const auto choice = f.text();
        if (choice != "machine" && choice != "own") f.refuse("must be machine or own");
        plan.own_view = choice == "own";
    } else if (key == "affinity_calls") {
        plan.affinity_calls = static_cast<AffinityCalls>(look_up(f, affinity_answers));
    } else if (key == "aslr") {
        plan.aslr = f.boolean();
    } else if (key == "rlimits") {
        f.each_element([&](const Field& call) { plan.rlimits.push_back(read_rlimit(call)); });
    } else if (key == "timeout_s") {
        plan.timeout_s = f.positive();
    } else if (key == "grace_s") {
        plan.grace_s = f.positive();
        if (plan.grace_s > max_grace_s) f.refuse("must be at most a day");
    } else if (key == "stop") {
        plan.stop = f.texts();
        if (plan.stop.empty() || plan.stop.front().empty()) f.refuse("does not name a program");
    } else if (key == "limits") {
        plan.limits = read_limits(f);
    } else if (key == "containment") {
        const auto choice = parse_containment_mode(f.text());
        if (!choice) f.refuse("must be auto, cgroup or none");
        plan.containment = *choice;
    } else if (key == "counters") {
        plan.counters = read_counters(f);
    } else if (key == "host_root") {
        plan.host_root = f.nonempty_text();
    } else if (key == "cgroup_root") {
        plan.cgroup_root = f.nonempty_text();
    } else if (key == "cgroup_parent") {
        plan.cgroup_parent = group_path(f);
    } else if (key == "cgroup_name") {
        plan.cgroup_name = group_name(f);
    } else if (key == "parent_pid") {
        plan.parent_pid = f.small(1, INT32_MAX);
    } else if (key == "signals") {
        const auto choice = f.text();
        if (choice != "end" && choice != "leave") f.refuse("must be end or leave");
        plan.leave_signals = choice == "leave";
    } else if (key == "process_group") {
        const auto choice = f.text();
        if (choice != "caller" && choice != "own") f.refuse("must be caller or own");
        plan.own_process_group = choice == "own";
    } else if (key == "core_files") {
        const auto choice = f.text();
        if (choice != "kept" && choice != "none") f.refuse("must be kept or none");
        plan.no_core_files = choice == "none";
    } else if (key == "memory_kills") {
        const auto choice = f.text();
        if (choice != "end" && choice != "leave") f.refuse("must be end or leave");
        plan.end_on_memory_kill = choice == "end";
    } else if (key == "sample_interval_s") {
        plan.sample_interval_s = f.positive();
    } else if (key == "sampling") {
        plan.sampling = read_sampling(f);
    } else if (key == "sampling_share") {
        plan.sampling_share = f.positive();
        if (plan.sampling_share < 1e-4 || plan.sampling_share > 1.0) f.refuse("must be from 0.0001 to 1");
    } else if (key == "readback") {
        plan.readback = read_readback_sources(f);
    } else if (key == "environ_names") {
        plan.environ_names = f.texts();
    } else if (key == "map_names") {
        plan.map_names = f.texts();
    } else if (key == "instances") {
        f.each_element([&](const Field& instance) { plan.instances.push_back(read_instance(instance)); });
        if (plan.instances.empty()) f.refuse("must contain at least one instance");
        if (plan.instances.size() > max_instances) {
            f.refuse("must contain at most " + std::to_string(max_instances));
        }
    } else {
        unknown(f);
    }
}

} // namespace

Plan Plan::of(const Instance& instance) const {
    Plan own = *this;
    own.instances.clear();
    if (!instance.argv.empty()) own.argv = instance.argv;
    for (const auto& [name, value] : instance.env_set) {
        std::erase_if(own.env_set, [&](const auto& pair) { return pair.first == name; });
        own.env_set.emplace_back(name, value);
    }
    if (!instance.affinity.empty()) own.affinity = instance.affinity;
    own.stdout_path = instance.stdout_path;
    own.stderr_path = instance.stderr_path;
    return own;
}

bool Plan::keeps_output() const {
    return stdout_path || stderr_path ||
           std::any_of(instances.begin(), instances.end(),
                       [](const Instance& one) { return one.stdout_path || one.stderr_path; });
}

bool Sched::real_time() const {
    return policy == SCHED_FIFO || policy == SCHED_RR || policy == SCHED_DEADLINE;
}

std::optional<ContainmentMode> parse_containment_mode(std::string_view name) {
    if (name == "auto") return ContainmentMode::automatic;
    if (name == "cgroup") return ContainmentMode::cgroup;
    if (name == "none") return ContainmentMode::none;
    return std::nullopt;
}

Plan parse_plan(std::string_view text) {
    if (text.size() > max_plan_bytes) {
        throw PlanError("plan: longer than " + std::to_string(max_plan_bytes) + " bytes");
    }
    Json document;
    try {
        document = Json::parse(text);
    } catch (const Json::parse_error& error) {
        throw PlanError("plan: not JSON, at byte " + std::to_string(error.byte));
    } catch (const Json::exception& error) { // a number out of range
        throw PlanError(std::string("plan: ") + error.what());
    }
    if (!document.is_object()) throw PlanError("plan: must be a JSON object");

    Plan plan;
    Field("", document).each_member([&](const std::string& key, const Field& f) {
        read_member(plan, key, f);
    });
    if (plan.argv.empty()) throw PlanError("argv: missing; it names the program to run");
    if (!plan.stop.empty() && plan.grace_s <= 0)
        throw PlanError("stop: requires grace_s, the grace period of the program");
    if (!plan.instances.empty() && (plan.stdout_path || plan.stderr_path)) {
        throw PlanError("instances: set stdout and stderr for each instance, not in the plan");
    }
    if (plan.limits.output_bytes && !plan.keeps_output()) {
        throw PlanError("limits.output_bytes: requires a file for stdout or stderr, whose size it limits");
    }
    return plan;
}

void refuse_privileged_keys(const Plan& plan) {
    const auto refuse = [](const char* key) {
        throw PlanError(std::string(key) +
                        ": a launcher with root privileges does not accept it from another user");
    };
    if (plan.cgroup_root != Plan{}.cgroup_root) refuse("cgroup_root");
    if (plan.cgroup_parent) refuse("cgroup_parent");
    if (plan.cgroup_name) refuse("cgroup_name");
    if (!plan.host_root.empty()) refuse("host_root");
}

} // namespace assay
