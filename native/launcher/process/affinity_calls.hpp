#pragma once

#include <linux/filter.h>

#include <vector>

namespace assay {

/// What becomes of calls by which the program, or a child of it, chooses CPUs (sched_setaffinity(2)).
enum class AffinityCalls {
    allowed,
    ignored, // answered as if they had been carried out
    refused  // EPERM
};

/// The filter of system calls (seccomp(2)) that answers so, in every ABI of the processors that we run on.
std::vector<sock_filter> affinity_filter(AffinityCalls answer);

/// The flags with which this kernel takes a filter that leaves the program's speed alone.
long filter_flags();

/// Whether the program may be given a filter and keep what set-user-ID programs gain.
bool filters_without_no_new_privs();

} // namespace assay
