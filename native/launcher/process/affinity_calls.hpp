#pragma once

#include <linux/filter.h>

#include <vector>

namespace assay {

/// Treatment of calls by which the program or a child of it chooses CPUs (sched_setaffinity(2)).
enum class AffinityCalls {
    allowed,
    ignored, // answered with success but not carried out
    refused  // EPERM
};

/// Return the filter of system calls (seccomp(2)) for this treatment, covering every ABI of the supported
/// processors.
std::vector<sock_filter> affinity_filter(AffinityCalls answer);

/// Return the flags with which this kernel installs a filter without slowing down the program.
long filter_flags();

/// Return whether a filter can be installed without PR_SET_NO_NEW_PRIVS, which would disable set-user-ID
/// programs.
bool filters_without_no_new_privs();

} // namespace assay
