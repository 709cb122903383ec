#pragma once

#include "common/clock.hpp"
#include "tier/memory/chunk_sizes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace assay::tier {

/// A chunk that a program touched: the region by the order in which they came to be, the size of the chunk,
/// and its number among those of its size. So it is the same in each run of a program that does the same,
/// wherever its memory lies.
struct Access {
    std::uint32_t region = 0;
    std::uint32_t level = 0;
    std::uint64_t number = 0;

    bool operator==(const Access&) const = default;
};

/// What a process touched, in a file: the sizes of chunks, and then a word for each region when it came to be
/// and for each touch.
///
/// A file ends with its last word that is not zero: it is mapped and grows ahead of what is written, so that
/// nothing is lost in whatever way a process ends.
class AccessTrace {
  public:
    /// \throws std::runtime_error saying why it cannot be used.
    AccessTrace(const std::string& path, const ChunkSizes& sizes);
    AccessTrace(const AccessTrace&) = delete;
    AccessTrace& operator=(const AccessTrace&) = delete;
    ~AccessTrace();

    /// Words, one after the other.
    [[nodiscard]] std::size_t size() const { return count_; }
    [[nodiscard]] std::optional<Access> access(std::size_t i) const;
    /// Bytes that were mapped at a time from this word on: what was touched again meanwhile is not there.
    [[nodiscard]] std::optional<std::size_t> mapped(std::size_t i) const;
    /// Of the region that came to be with this word, largest chunks.
    [[nodiscard]] std::optional<std::uint64_t> region(std::size_t i) const;

  private:
    std::byte* file_ = nullptr;
    std::size_t bytes_ = 0, count_ = 0, levels_ = 0;
    const std::uint64_t* words_ = nullptr;
};

/// Writes a trace, of a program of which only little is mapped at a time, so that its touches show.
class TraceRecorder {
  public:
    /// \throws std::system_error.
    TraceRecorder(std::string path, const ChunkSizes& sizes);
    TraceRecorder(const TraceRecorder&) = delete;
    TraceRecorder& operator=(const TraceRecorder&) = delete;
    ~TraceRecorder();

    void region_added(std::uint64_t chunks);
    /// So many bytes may be mapped at a time from now on.
    void set_mapped_limit(std::size_t bytes);
    [[nodiscard]] std::size_t mapped_bytes() const { return mapped_limit_; }
    /// What was touched was only unmapped: a program that is at more places at a time than may be mapped
    /// would do little else.
    void on_second_chance_hit();
    /// What was touched a few touches before is still there, and does not count.
    void on_access(const Access& access);

  private:
    void add(std::uint64_t word);
    [[nodiscard]] bool grow();

    std::string path_;
    std::byte* segment_ = nullptr;          ///< Of the file, that is mapped.
    std::size_t segment_offset_ = 0;        ///< Its place in the file.
    std::size_t segment_used_ = 0;          ///< Bytes of it.
    std::array<std::uint64_t, 8> recent_{}; ///< Words.
    std::size_t recent_next_ = 0;
    std::size_t mapped_limit_ = 0;
    unsigned second_chance_hits_ = 0; ///< Touches of what was only unmapped,
    Nanos hits_since_ = 0;            ///< from this time on.
    bool full_ = false;               ///< No more can be written.
};

/// Where a run's process of this number has its trace in a folder.
[[nodiscard]] std::string trace_path(const std::string& folder, std::size_t number);

} // namespace assay::tier
