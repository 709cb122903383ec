#pragma once

#include "tier/memory/chunk_cache.hpp"
#include "tier/memory/region_index.hpp"
#include "tier/policy/stream_detector.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace assay::tier {

/// Brings what will be touched soon: what comes next in the runs that touches are of, and what somebody has
/// told of.
class LookAhead {
  public:
    /// \throws std::bad_alloc.
    explicit LookAhead(Memory& memory);

    /// All that depends on how much memory there may be.
    void fit();

    /// The run that a touch of a chunk belongs to, or null.
    [[nodiscard]] const Streams::Stream* run_of(Region& region, const Chunk& chunk, std::uint32_t thread);
    /// \param node that what is brought is wanted on; likewise below.
    void follow(Region& region, const Streams::Stream& run, Node node);
    /// So many bytes within a chunk will be touched.
    void expect(std::byte* at, std::size_t bytes, Node node);
    /// Brings what there was no room for, where there may be now.
    void go_on();
    void bring_expected(const Regions& regions);
    /// A region is no more.
    void forget(const Region& region);

    enum class Ahead { brought, there, no_further };
    /// What will be touched, or all parts of it.
    Ahead bring(Chunk& chunk, Node node);
    /// Whether as much of what is foreseen is on its way, or was brought and is not used.
    [[nodiscard]] bool has_next() const { return bytes() >= window_ + 2 * memory_.chunk(); }

  private:
    /// Chunks of a window.
    [[nodiscard]] std::uint32_t most_of(std::size_t step) const;
    /// Chunks that each of the runs that take turns may have ahead: what one brings beyond that, another one
    /// gives up before it is used.
    [[nodiscard]] std::uint32_t share_of(std::size_t step) const;
    /// Whether the last two touches were of this run.
    [[nodiscard]] bool is_alone(const Streams::Stream& run) const;
    [[nodiscard]] bool has_enough() const { return bytes() >= most_; }
    [[nodiscard]] std::size_t bytes() const {
        return memory_.residence().ahead_bytes() + memory_.transfers().unasked_bytes();
    }

    Memory& memory_;
    std::size_t most_ = 0;   ///< Bytes that may be brought ahead.
    std::size_t window_ = 0; ///< Bytes that may be brought ahead of one run.
    /// What of a chunk will be touched soon, as somebody said.
    struct Expected {
        std::byte* at = nullptr;
        std::size_t bytes = 0;
        Node node{};
    };
    /// The chunks that hold it, of the size that is wanted now.
    Ahead bring(Region& region, const Expected& expected);
    /// One of several, of which those that hold nothing are passed over. \param all what became of them so
    ///     far. \returns false where the others need not be tried.
    [[nodiscard]] bool bring_too(Chunk& chunk, Node node, Ahead& all);
    Table<Expected> expected_;
    /// What would be read ahead, had there been room.
    struct Unfinished {
        Region* region = nullptr;
        const Streams::Stream* run = nullptr;
        std::size_t level = 0; ///< Of its chunks.
        Node node{};
    };
    Unfinished unfinished_;
    std::array<const Streams::Stream*, 32> latest_{}; ///< The runs of the last touches; only compared.
    std::size_t touches_ = 0;
};

} // namespace assay::tier
