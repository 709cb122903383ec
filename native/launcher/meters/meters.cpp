#include "launcher/meters/meters.hpp"

#include <cmath>

namespace assay {

Meters::Meters(const Plan& plan, const std::vector<int>& cpus, pid_t launcher_pid)
    : counters_(plan.counters, plan.host_root), throttle_(plan.host_root, cpus),
      frequency_(plan.host_root, cpus), energy_(plan.host_root), host_(plan.host_root, cpus, launcher_pid) {
    throttle_.begin();
    if (counters_.lacks_frequency()) frequency_.begin();
    energy_.begin();
}

void Meters::report(Result& result) {
    auto& absent = result.absent;
    std::optional<Nanos> tree_cpu;
    if (result.cpu) tree_cpu = result.cpu->user + result.cpu->system;
    counters_.read(result.wall_s ? tree_cpu : std::nullopt);
    result.counts = counters_.counts();
    for (const auto& count : result.counts) {
        if (count.name == "cpu_migrations") result.migrations = std::llround(count.value);
    }
    for (const auto& [name, why] : counters_.absent()) absent.emplace_back("counters." + name, why);

    result.energy_j = energy_.joules();
    if (!result.energy_j) absent.emplace_back("energy_j", energy_.why_absent());

    result.host = host_.end(tree_cpu, absent);
    result.host->throttle_events = throttle_.end();
    if (!result.host->throttle_events) {
        absent.emplace_back("host.throttle_events", "the processor or its hypervisor does not count them");
    }
    result.host->frequency_ratio =
        counters_.lacks_frequency() ? frequency_.ratio() : counters_.frequency_ratio();
    if (!result.host->frequency_ratio) {
        absent.emplace_back("host.frequency_ratio",
                            counters_.asks_frequency()
                                ? "neither the kernel's msr PMU nor /dev/cpu/N/msr provides APERF and "
                                  "MPERF (virtual machine, or missing privileges)"
                                : "the plan does not request the counter \"frequency\"");
    }
}

} // namespace assay
