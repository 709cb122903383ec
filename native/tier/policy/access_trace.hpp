#pragma once

#include "common/clock.hpp"
#include "tier/memory/chunk_sizes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace assay::tier {

/// Access to a chunk: ordinal of its region, level of its size, and number among chunks of that size. It is
/// the same in each run of a deterministic program, independent of addresses.
struct Access {
    std::uint32_t region = 0;
    std::uint32_t level = 0;
    std::uint64_t number = 0;

    bool operator==(const Access&) const = default;
};

/// Recorded accesses of a process: the chunk sizes, and a word for each new region and for each access.
///
/// The last non-zero word ends a file. The file is mapped and grows ahead of its content, so that nothing is
/// lost when the process ends for any reason.
class AccessTrace {
  public:
    /// \throws std::runtime_error with the reason why the trace is unusable.
    AccessTrace(const std::string& path, const ChunkSizes& sizes);
    AccessTrace(const AccessTrace&) = delete;
    AccessTrace& operator=(const AccessTrace&) = delete;
    ~AccessTrace();

    /// Return the number of words.
    [[nodiscard]] std::size_t size() const { return count_; }
    [[nodiscard]] std::optional<Access> access(std::size_t i) const;
    /// Return the limit of mapped bytes from a word on; repeated accesses to mapped chunks are not recorded.
    [[nodiscard]] std::optional<std::size_t> mapped(std::size_t i) const;
    /// Return the size of the region that a word creates, in largest chunks.
    [[nodiscard]] std::optional<std::uint64_t> region(std::size_t i) const;

  private:
    std::byte* file_ = nullptr;
    std::size_t bytes_ = 0, count_ = 0, levels_ = 0;
    const std::uint64_t* words_ = nullptr;
};

/// Recorder of a trace. Only little memory of the program is mapped at a time, so that accesses become
/// visible as faults.
class TraceRecorder {
  public:
    /// \throws std::system_error.
    TraceRecorder(std::string path, const ChunkSizes& sizes);
    TraceRecorder(const TraceRecorder&) = delete;
    TraceRecorder& operator=(const TraceRecorder&) = delete;
    ~TraceRecorder();

    void region_added(std::uint64_t chunks);
    /// Set the limit of mapped bytes.
    void set_mapped_limit(std::size_t bytes);
    [[nodiscard]] std::size_t mapped_bytes() const { return mapped_limit_; }
    /// Count a second-chance hit. Frequent hits raise the limit: a program with more concurrent streams than
    /// mapped chunks would mostly fault.
    void on_second_chance_hit();
    /// Record an access. Repetitions within the last few accesses are skipped, because their chunk is still
    /// mapped.
    void on_access(const Access& access);

  private:
    void add(std::uint64_t word);
    [[nodiscard]] bool grow();

    std::string path_;
    std::byte* segment_ = nullptr;          ///< Mapped segment of the file.
    std::size_t segment_offset_ = 0;        ///< Its offset in the file.
    std::size_t segment_used_ = 0;          ///< Bytes written to it.
    std::array<std::uint64_t, 8> recent_{}; ///< Recent words.
    std::size_t recent_next_ = 0;
    std::size_t mapped_limit_ = 0;
    unsigned second_chance_hits_ = 0; ///< Second-chance hits since `hits_since_`.
    Nanos hits_since_ = 0;
    bool full_ = false; ///< Recording has ended.
};

/// Return the path of the trace of a process by its number in the run.
[[nodiscard]] std::string trace_path(const std::string& folder, std::size_t number);

} // namespace assay::tier
