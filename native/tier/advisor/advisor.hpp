#pragma once

#include "common/clock.hpp"
#include "tier/advisor/large_mappings.hpp"
#include "tier/advisor/reclaimer.hpp"
#include "tier/advisor/resident_set.hpp"
#include "tier/advisor/sweep_detector.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>

namespace assay::tier {

/// Keeps large memory of this process within a budget, with the kernel's swap behind it, by nothing but
/// advice: madvise(2) with advice that changes no content.
///
/// One thread looks where pages are, finds where the program goes through them, asks for what comes next
/// (MADV_WILLNEED), and has the kernel page out what lies behind, or has been there for the longest time
/// (MADV_PAGEOUT, Linux 5.4). It knows of memory by what the kernel lists: no call of the program comes here.
class Advisor {
  public:
    /// What an advisor has to work with.
    struct Config {
        std::size_t memory_bytes = 0;                  ///< DRAM that large memory is to have.
        std::size_t min_bytes = std::size_t{64} << 20; ///< Of a mapping that is large.
    };

    /// Makes one in a thread of its own, which has a descriptor table of its own as well (own_files).
    ///
    /// \param room for it. \throws std::runtime_error, std::system_error, naming what this machine does not
    ///     give.
    static Advisor& start(void* room, const Config& config);
    Advisor(const Advisor&) = delete;
    Advisor& operator=(const Advisor&) = delete;
    /// It goes with the process.
    ~Advisor() = delete;

    /// Of all large memory there is and was: `read_bytes` are those that were asked for, `written_bytes`
    /// those that were paged out; `staged` and `wasted` are pages that were asked for, and touched then or
    /// not.
    [[nodiscard]] Counts counts();

  private:
    explicit Advisor(const Config& config);

    [[noreturn]] void work();
    /// One look, and what follows from it. \returns when the next is due.
    Nanos step(Nanos now);

    void update_mappings(Nanos now);
    void forget(const LargeMapping& mapping);
    void scan_all(Nanos now);
    void scan_ahead_of(const Sweep& sweep, Nanos now);
    /// \returns granules that have come since the last look there.
    std::size_t scan(const LargeMapping& mapping, GranuleRange range, Nanos now);
    void observe(GranuleRange run, Nanos now);

    void prefetch(Nanos now);
    void prefetch_ahead_of(Sweep& sweep, std::int64_t window, std::size_t& room);
    /// What was asked for ahead of it will not be used.
    void abandon(Sweep& sweep);

    std::size_t budget_; ///< Pages.
    LargeMappings mappings_;
    ResidentSet resident_;
    SweepDetector sweeps_;
    Reclaimer reclaimer_;
    Nanos mappings_due_ = 0, scan_due_ = 0, scan_pause_ = 0;
    Nanos last_move_ = 0;         ///< When any front did last.
    std::int64_t scanned_to_ = 0; ///< Granules before this have been looked at, where that is under way.
    std::size_t arrived_ = 0;     ///< Of these, granules that have come.
    std::mutex lock_;
};

} // namespace assay::tier
