#pragma once

#include "common/clock.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace assay::noise {

/// How time that is taken away shows.
enum class Method {
    fixed_work, ///< FWQ: how long the same work takes, again and again.
    fixed_time, ///< FTQ: how much work is done in each interval of one length; for spectra.
    selfish,    ///< Gaps between two looks at the clock: each detour, with its length.
};

struct Request {
    Method method = Method::selfish;
    std::vector<int> cpus; ///< A thread is kept on each; all that this process may use, where empty.
    Nanos length = 5 * nanos_per_second;
    Nanos quantum = nanos_per_milli; ///< Of work or of time.
    Nanos threshold = 1000;          ///< What takes longer than this beyond the rule is a detour.
    std::size_t most = 1U << 20;     ///< Values that are kept for each CPU.
    std::size_t worst = 64;          ///< Detours whose circumstances are told for each CPU.
    bool help = false;
    bool version = false;
    std::string error; ///< What is wrong with the words; nothing where all is well.
};

extern const char usage_text[];

Request parse_request(int argc, char** argv);

} // namespace assay::noise
