#include "common/affinity.hpp"

#include <sched.h>

namespace assay {

std::vector<int> own_affinity() {
    std::vector<int> cpus;
    alignas(cpu_set_t) unsigned char mask[1024] = {};
    if (::sched_getaffinity(0, sizeof mask, reinterpret_cast<cpu_set_t*>(mask)) != 0) return cpus;
    for (int cpu = 0; cpu < 8192; ++cpu) {
        if ((mask[cpu / 8] >> (cpu % 8) & 1) != 0) cpus.push_back(cpu);
    }
    return cpus;
}

} // namespace assay
