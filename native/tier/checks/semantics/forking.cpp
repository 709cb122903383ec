#include "tier/checks/semantics/area.hpp"
#include "tier/checks/semantics/children.hpp"
#include "tier/checks/semantics/pipe.hpp"
#include "tier/checks/semantics/registration.hpp"
#include "tier/checks/semantics/rows.hpp"

namespace assay::tier::semantics {

/// Pages shared by parent and child cannot be moved (PageAnonExclusive() of the kernel) until one of them
/// writes.
void move_after_fork(Seen& seen) {
    const GuardedArea shared(page), mine(page), place(page), other(page);
    const Userfault fault = userfault(UFFD_FEATURE_MOVE);
    watch(fault, place);
    watch(fault, other);
    shared.fill();
    mine.fill();
    Pipe pipe;
    const pid_t child = forked([&pipe] {
        pipe.in.reset();
        char end = 0;
        return static_cast<int>(::read(pipe.out.get(), &end, 1));
    });
    seen.error("while there is a child", error_of_move(fault, place, shared), EBUSY);
    write_byte(mine.at());
    seen.error("where the parent has written meanwhile", error_of_move(fault, other, mine), 0);
    pipe.in.reset();
    seen.is("child", ending(child), "ends with 0");
    seen.error("after the child", error_of_move(fault, place, shared), EBUSY);
    write_byte(shared.at());
    seen.error("after the parent has written", error_of_move(fault, place, shared), 0);
}

/// Managed memory is withheld from child processes, because they would read zeros.
void child_reads_zeros(Seen& seen) {
    const Evicted evicted(0);
    seen.is("child", ending(forked([&] { return std::to_integer<int>(byte_at(evicted.region.at())); })),
            "ends with 0");
}

/// A child without the memory is terminated instead of reading zeros.
void child_without_memory_dies(Seen& seen) {
    const Evicted evicted(0);
    seen.error("MADV_DONTFORK", evicted.region.advise(MADV_DONTFORK), 0);
    seen.is("child", ending(forked([&] { return std::to_integer<int>(byte_at(evicted.region.at())); })),
            "SIGSEGV");
}

} // namespace assay::tier::semantics
