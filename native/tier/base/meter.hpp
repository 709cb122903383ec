#pragma once

#include "common/fd.hpp"
#include "tier/base/table.hpp"

#include <cstddef>
#include <cstdint>

namespace assay::tier {

/// Counters of page faults, by the state of the faulting chunk, and of transfers.
struct Counts {
    std::uint64_t zero_fill_faults = 0;   ///< Zero-fill faults: the chunk was never written.
    std::uint64_t demand_faults = 0;      ///< Demand faults: the thread waited for a complete read.
    std::uint64_t in_flight_faults = 0;   ///< Faults on a chunk with a transfer already in flight.
    std::uint64_t prefetch_hits = 0;      ///< Faults on a prefetched chunk.
    std::uint64_t second_chance_hits = 0; ///< Second-chance hits: the chunk was unmapped and still in memory.
    std::uint64_t unused_prefetches = 0;  ///< Prefetched chunks that were evicted before their first use.
    std::uint64_t clean_evictions = 0;    ///< Evictions without write-back: the backing store was up to date.
    std::uint64_t read_bytes = 0, written_bytes = 0;
    /// Time during which threads waited, in ns; several waiters for one chunk count once.
    std::uint64_t stall_ns = 0;

    Counts& operator+=(const Counts& more);
};

/// Counters of all regions in shared memory, so that other processes can read them.
///
/// The anonymous file appears as `/proc/PID/task/TID/fd/N -> /memfd:assay-tier` among the descriptors of the
/// counting thread. Processes that may trace this one may open it. assay.tier.meter reads the same layout.
class Meter {
  public:
    struct Entry {
        std::uint64_t base, bytes; ///< Address and length of the region; length 0 marks a free entry.
        std::uint64_t held_bytes;  ///< Bytes in memory, mapped or not.
        Counts counts;
    };

    /// Engine that fetches and evicts memory.
    enum class Engine : std::uint64_t { pager, advisor };

    /// \param max maximum number of regions. \throws std::bad_alloc.
    Meter(std::size_t max, std::size_t dram_bytes, std::size_t chunk_bytes, Engine engine = Engine::pager);
    Meter(const Meter&) = delete;
    Meter& operator=(const Meter&) = delete;
    ~Meter();

    [[nodiscard]] Entry& begin(const std::byte* base, std::size_t bytes);
    void end(Entry& entry);
    /// Return the sum over all regions, including removed ones.
    [[nodiscard]] Counts counts() const;

  private:
    struct Header {
        char magic[8]; ///< Identifies this layout.
        std::uint64_t pid, dram_bytes, chunk_bytes;
        Engine engine;
        std::uint64_t entries; ///< Number of entries ever used; they follow the header.
        Counts ended;          ///< Counters of removed regions.
    };

    [[nodiscard]] Entry* entries() const { return reinterpret_cast<Entry*>(head_ + 1); }

    std::size_t bytes_;
    Fd file_;
    Header* head_ = nullptr;
    Table<Entry*> free_;
};

} // namespace assay::tier
