#pragma once

#include "tier/checks/semantics/seen.hpp"

#include <string>

/// Each function shows one fact, and throws Skipped if this machine cannot show it.
namespace assay::tier::semantics {

// move.cpp
void move_keeps_huge_pages(Seen& seen);
void move_into_write_protected(Seen& seen);
void move_between_locked_and_unlocked(Seen& seen);
void move_of_missing_pages(Seen& seen);
void move_between_protections(Seen& seen);
void move_while_an_event_waits(Seen& seen);

// transfers.cpp
void move_registered_buffer(Seen& seen);
void move_after_direct_io(Seen& seen, const std::string& path);

// forking.cpp
void move_after_fork(Seen& seen);
void child_reads_zeros(Seen& seen);
void child_without_memory_dies(Seen& seen);

// system_calls.cpp
void system_call_user_mode_only(Seen& seen);
void system_call_sigbus_mode(Seen& seen);
void system_call_answered(Seen& seen);

// poison.cpp
void poison_ends_in_sigbus(Seen& seen);

// unmapping.cpp
void unmap_raises_event(Seen& seen);
void discard_raises_event(Seen& seen);
void discarded_page_is_missing(Seen& seen);

// remapping.cpp
void remapped_range_faults(Seen& seen);
void differing_protections_do_not_remap(Seen& seen);

} // namespace assay::tier::semantics
