/// Check the facts about userfaultfd(2) that the pager relies on, one row for each.
///
///     assay-tier-semantics [--path DIR] [--row NAME]
///
/// Prints one line of JSON for each row: ok, different (the kernel deviates from the pager's assumption), or
/// skipped with the reason. Exits with status 1 if a row is different. The facts were established on Linux
/// 6.18; move_pages() of mm/userfaultfd.c decides those about UFFDIO_MOVE.

#include "tier/checks/semantics/rows.hpp"

#include <unistd.h>

#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace {

using namespace assay::tier::semantics;

struct Row {
    const char* name;
    std::function<void(Seen&)> show;
};

std::vector<Row> all_rows(const std::string& path) {
    return {{"move-keeps-huge-pages", move_keeps_huge_pages},
            {"move-into-write-protected", move_into_write_protected},
            {"move-registered-buffer", move_registered_buffer},
            {"move-after-direct-io", [path](Seen& seen) { move_after_direct_io(seen, path); }},
            {"move-after-fork", move_after_fork},
            {"child-reads-zeros", child_reads_zeros},
            {"child-without-memory-dies", child_without_memory_dies},
            {"move-between-locked-and-unlocked", move_between_locked_and_unlocked},
            {"system-call-user-mode-only", system_call_user_mode_only},
            {"system-call-sigbus-mode", system_call_sigbus_mode},
            {"system-call-answered", system_call_answered},
            {"move-of-missing-pages", move_of_missing_pages},
            {"move-between-protections", move_between_protections},
            {"move-while-an-event-waits", move_while_an_event_waits},
            {"poison-ends-in-sigbus", poison_ends_in_sigbus},
            {"unmap-raises-event", unmap_raises_event},
            {"discard-raises-event", discard_raises_event},
            {"discarded-page-is-missing", discarded_page_is_missing},
            {"remapped-range-faults", remapped_range_faults},
            {"differing-protections-do-not-remap", differing_protections_do_not_remap}};
}

/// Print a row. \returns false if the kernel deviates.
bool show(const Row& row) {
    // On a deviating kernel a row may hang; SIGALRM terminates it.
    ::alarm(30);
    Seen seen;
    std::string status, text;
    try {
        row.show(seen);
        status = seen.as_relied_on() ? "ok" : "different";
        text = seen.text();
    } catch (const Skipped& why) {
        status = "skipped";
        text = why.what();
    } catch (const std::exception& error) {
        status = "different";
        text = seen.text() + (seen.text().empty() ? "" : "; ") + error.what();
    }
    // The texts contain nothing that JSON escapes.
    std::printf("{\"row\":\"%s\",\"status\":\"%s\",\"seen\":\"%s\"}\n", row.name, status.c_str(),
                text.c_str());
    std::fflush(stdout);
    return status != "different";
}

int show_rows(std::map<std::string, std::string> options) {
    std::size_t rows_shown = 0, different = 0;
    for (const Row& row : all_rows(options["path"])) {
        if (options.contains("row") && options["row"] != row.name) continue;
        ++rows_shown;
        different += show(row) ? 0U : 1U;
    }
    if (rows_shown == 0) std::fprintf(stderr, "unknown row: %s\n", options["row"].c_str());
    return rows_shown == 0 ? 2 : different == 0 ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    std::map<std::string, std::string> options;
    for (int i = 1; i < argc; i += 2) {
        const std::string name = argv[i];
        if ((name != "--path" && name != "--row") || i + 1 == argc) {
            std::fputs("usage: assay-tier-semantics [--path DIR] [--row NAME]\n", stderr);
            return 2;
        }
        options[name.substr(2)] = argv[i + 1];
    }
    return show_rows(options);
}
