#pragma once

#include "common/fd.hpp"
#include "tier/base/table.hpp"

#include <cstddef>
#include <cstdint>

namespace assay::tier {

/// What became of a region's faults, and what was transferred for it.
struct Counts {
    std::uint64_t first = 0;     ///< Touches of what was never written: zeros.
    std::uint64_t demand = 0;    ///< A thread waited for a transfer from its beginning on.
    std::uint64_t late = 0;      ///< It was on its way already.
    std::uint64_t staged = 0;    ///< It was there.
    std::uint64_t again = 0;     ///< It was there, for it had only been unmapped.
    std::uint64_t wasted = 0;    ///< Brought ahead, and given up without a touch.
    std::uint64_t unchanged = 0; ///< Taken away without being written: it was as in the store.
    std::uint64_t read_bytes = 0, written_bytes = 0;
    std::uint64_t stall_ns = 0; ///< That threads waited; several for one chunk count once.

    Counts& operator+=(const Counts& more);
};

/// The counts of all regions, where others may look: memory without a name that they find as
/// `/proc/PID/task/TID/fd/N -> /memfd:assay-tier`, with the descriptors of the thread that counts, and may
/// open where they may trace this process. assay.tier.meter
/// reads it, so its layout is said there too.
class Meter {
  public:
    struct Entry {
        std::uint64_t base, bytes; ///< No bytes: not in use.
        std::uint64_t held_bytes;  ///< In memory, mapped or not.
        Counts counts;
    };

    /// Who brings memory and takes it away.
    enum class Engine : std::uint64_t { pager, advisor };

    /// \param most regions. \throws std::bad_alloc.
    Meter(std::size_t max, std::size_t dram_bytes, std::size_t chunk_bytes, Engine engine = Engine::pager);
    Meter(const Meter&) = delete;
    Meter& operator=(const Meter&) = delete;
    ~Meter();

    [[nodiscard]] Entry& begin(const std::byte* base, std::size_t bytes);
    void end(Entry& entry);
    /// Of all, those that have ended too.
    [[nodiscard]] Counts counts() const;

  private:
    struct Header {
        char magic[8]; ///< Of this layout.
        std::uint64_t pid, dram_bytes, chunk_bytes;
        Engine engine;
        std::uint64_t entries; ///< That were ever in use; they follow.
        Counts ended;          ///< Of regions that are no more.
    };

    [[nodiscard]] Entry* entries() const { return reinterpret_cast<Entry*>(head_ + 1); }

    std::size_t bytes_;
    Fd file_;
    Header* head_ = nullptr;
    Table<Entry*> free_;
};

} // namespace assay::tier
