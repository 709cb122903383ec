#pragma once

#include "tier/fronts.hpp"
#include "tier/granules.hpp"
#include "tier/maps.hpp"
#include "tier/meter.hpp"
#include "tier/pagemap.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>

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
    struct Means {
        std::size_t memory_bytes = 0;                    ///< DRAM that large memory is to have.
        std::size_t least_bytes = std::size_t{64} << 20; ///< Of a mapping that is large.
    };

    /// \throws std::runtime_error, std::system_error, naming what this machine does not give.
    explicit Advisor(const Means& means);
    Advisor(const Advisor&) = delete;
    Advisor& operator=(const Advisor&) = delete;
    /// It goes with the process.
    ~Advisor() = delete;

    /// Of all large memory there is and was: `read_bytes` are those that were asked for, `written_bytes`
    /// those that were paged out; `staged` and `wasted` are pages that were asked for, and touched then or
    /// not.
    [[nodiscard]] Counts counts();

  private:
    /// Large memory, and what others see of it.
    struct Area {
        std::uint64_t from = 0, to = 0;
        Meter::Entry* shown = nullptr;

        [[nodiscard]] std::int64_t first() const { return static_cast<std::int64_t>(from / Granule::bytes); }
        [[nodiscard]] std::int64_t last() const {
            return static_cast<std::int64_t>((to - 1) / Granule::bytes);
        }
        /// Its pages of a granule, by a bit of each.
        [[nodiscard]] std::uint64_t pages_of(std::int64_t granule) const;
    };
    /// Granules of one area, from one to another.
    struct Piece {
        std::int64_t first = 0, last = -1;

        [[nodiscard]] std::int64_t count() const { return last - first + 1; }
    };
    using Time = std::uint64_t; ///< Nanoseconds, of a clock that only goes forward.

    [[noreturn]] void work();
    /// One look, and what follows from it. \returns when the next is due.
    Time go_round(Time now);

    void find_areas(Time now);
    [[nodiscard]] bool areas_are(const Table<Span>& spans) const;
    void forget(const Area& area);
    [[nodiscard]] Area* area_of(std::int64_t granule);

    void look_everywhere(Time now);
    /// To others, how much of it is in memory.
    void show(const Area& area);
    void look_at_front(const Front& front, Time now);
    /// \returns granules that have come since the last look there.
    std::size_t look(const Area& area, Piece piece, Time now);
    void look_again(const Area& area, Piece piece);
    /// What is seen of a granule now. \returns its pages that are in swap, and were not asked for.
    std::uint64_t note(const Area& area, std::int64_t number, const Pagemap::Seen& seen);
    /// Nothing is known of it any more.
    void drop(std::int64_t number);
    void saw(Piece run, Time now);

    void ask(Time now);
    void ask_ahead_of(Front& front, std::int64_t window, std::size_t& room);
    /// \returns pages that were asked for.
    [[nodiscard]] std::size_t ask_for(const Area& area, Piece piece);
    static void advise(const Area& area, Piece piece, int advice);
    /// What was asked for ahead of it will not be used.
    void give_up(Front& front);

    /// Pages beyond the budget.
    [[nodiscard]] std::size_t over() const;
    void page_out(Time now);
    void rest(Time now);
    /// Once, why more stays than there is to be.
    void tell(std::string_view why);
    void stay_behind();
    [[nodiscard]] Piece next_behind();
    [[nodiscard]] Piece next_oldest();
    /// \returns pages that have left memory.
    [[nodiscard]] std::size_t page_out(Piece piece);

    std::size_t budget_;                   ///< Pages.
    std::int64_t distance_;                ///< Granules that are left alone behind a front.
    std::size_t resident_ = 0, ahead_ = 0; ///< Pages: in memory, and asked for.
    Maps maps_;
    Pagemap pagemap_;
    Granules granules_;
    Fronts fronts_;
    Meter meter_;
    Table<Span> spans_;
    Table<Area> areas_, areas_before_;
    Counts past_{}; ///< Of areas that are gone.
    Time areas_due_ = 0, everywhere_due_ = 0, page_out_due_ = 0;
    Time everywhere_pause_ = 0, page_out_pause_ = 0, rest_ = 0;
    Time moved_ = 0;          ///< When any front did last.
    std::int64_t looked_ = 0; ///< Granules before this have been looked at, where that is under way.
    std::size_t came_ = 0;    ///< Of these, granules that have come.
    std::size_t turn_ = 0;
    std::size_t gone_ = 0; ///< Pages that were paged out since all was within the budget.
    bool said_ = false;
    std::mutex lock_;
};

} // namespace assay::tier
