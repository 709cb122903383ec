#include "launcher/meters/memory_sampler.hpp"

#include "common/files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <limits>
#include <string>

namespace assay {

namespace {

constexpr Nanos first_interval = nanos_per_milli;

constexpr std::int64_t file_share_divisor = 8;
/// Above this, neither page faults nor the resident set are an upper bound.
constexpr std::int64_t max_shared_bytes = 1 << 20;

/// Return the smallest value that is clearly above `bytes`. The charge includes kernel memory of the tree,
/// and the counts of a process lag behind by some pages per CPU.
std::int64_t clearly_above(std::int64_t bytes) {
    constexpr std::int64_t near = 1 << 20;
    return bytes + std::max(near, bytes / 20);
}

/// Return the third number of /proc/PID/statm in bytes: mapped file and shared pages.
std::optional<std::int64_t> mapped_files(const Fd& statm) {
    static const std::int64_t page = ::sysconf(_SC_PAGESIZE);
    char buffer[128];
    const auto text = reread(statm.get(), buffer, sizeof buffer - 1);
    if (!text || text->empty()) return std::nullopt;
    buffer[text->size()] = '\0';
    std::int64_t pages = 0;
    if (std::sscanf(buffer, "%*d %*d %" SCNd64, &pages) != 1) return std::nullopt;
    return pages * page;
}

} // namespace

MemorySampler::MemorySampler(Containment& containment, const SharedState& shared, pid_t program, Nanos start,
                             Nanos max_interval, double time_share)
    : containment_(containment), shared_(shared), max_interval_(max_interval), time_share_(time_share),
      interval_(std::min(first_interval, max_interval)), due_(start + interval_), program_(program) {
    previous_.faulted = 0;
}

void MemorySampler::run(Nanos now) {
    // CPU time, because preemption while sampling must not reduce the sampling rate.
    const Nanos used_before = now_ns(CLOCK_THREAD_CPUTIME_ID);
    // Until exec the memory of the child is our own.
    const Nanos started = shared_.started_ns.load(std::memory_order_relaxed);
    if (const auto memory = started != 0 ? containment_.memory() : std::nullopt) {
        add_sample(*memory);
        max_gap_ = std::max(max_gap_, now - (last_sample_ != 0 ? last_sample_ : started));
        last_sample_ = now;
        ++samples_;
    }
    interval_ = std::min(interval_ + interval_ / 2, max_interval_);
    const Nanos cost = now_ns(CLOCK_THREAD_CPUTIME_ID) - used_before;
    // Reading memory.stat of a large machine, or a tree of many processes, takes long.
    due_ = now + std::max(interval_, static_cast<Nanos>(static_cast<double>(cost) / time_share_));
}

void MemorySampler::add_sample(const TreeMemory& memory) {
    peak_ = std::max(peak_, memory.all());
    base_peak_ = std::max(base_peak_, memory.anonymous);
    max_huge_ = std::max(max_huge_, memory.huge);
    if (!memory.huge_charged) uncharged_huge_ = max_huge_;
    if (memory.cache) max_cache_ = std::max(max_cache_.value_or(0), *memory.cache);

    auto files = memory.files;
    if (!files) {
        if (!statm_)
            statm_ =
                Fd{::open(("/proc/" + std::to_string(program_) + "/statm").c_str(), O_RDONLY | O_CLOEXEC)};
        files = mapped_files(statm_);
    }
    if (files) {
        max_files_ = std::max(max_files_, *files);
        min_files_ = std::min(min_files_.value_or(*files), *files);
    }

    uses_shared_memory_ = uses_shared_memory_ || memory.shared > max_shared_bytes;
    if (uses_shared_memory_) max_between_.reset();
    if (max_between_ && memory.faulted && previous_.faulted)
        max_between_ = std::max(*max_between_, previous_.anonymous + *memory.faulted - *previous_.faulted);
    else
        max_between_.reset();
    previous_ = memory;
}

/// Return a lower bound of the memory of the tree at its peak charge, for a program that ended before a
/// sample. It is the peak charge minus the maximum of file pages seen, which need not have been present at
/// the peak. It is at most the resident set of the largest process without mapped files, because files may
/// have come and gone between samples.
std::optional<std::int64_t> MemorySampler::charge_without_files(const FinalMemory& end) const {
    // File pages may come and go between two samples. If there are many, the difference is unreliable.
    if (!end.charged || !end.resident || !max_cache_ || *max_cache_ > *end.charged / file_share_divisor)
        return std::nullopt;
    return std::min(*end.charged - *max_cache_, without_files(end));
}

/// Return the peak resident set of the largest process, minus the maximum of file pages seen.
std::int64_t MemorySampler::without_files(const FinalMemory& end) const {
    return end.resident.value_or(0) - max_files_;
}

/// Return an upper bound of the memory of the tree; the largest number if there is none.
std::int64_t MemorySampler::upper_bound(const FinalMemory& end) const {
    std::int64_t bound = std::numeric_limits<std::int64_t>::max();
    if (end.charged) bound = *end.charged;
    if (max_between_) bound = std::min(bound, *max_between_);
    if (end.single && end.resident && !uses_shared_memory_)
        bound = std::min(bound, *end.resident - min_files_.value_or(0));
    return bound;
}

MemoryPeak MemorySampler::peak(const FinalMemory& end) {
    if (const auto memory = containment_.memory()) {
        if (memory->cache) max_cache_ = std::max(max_cache_.value_or(0), *memory->cache);
        if (memory->faulted && previous_.faulted && max_between_)
            max_between_ =
                std::max(*max_between_, previous_.anonymous + *memory->faulted - *previous_.faulted);
    }
    const std::int64_t resident_anonymous = without_files(end);
    // More than page faults can have added: file pages were mapped and unmapped between samples.
    const bool contradicts = max_between_ && resident_anonymous > clearly_above(*max_between_);
    MemoryPeak found{peak_, PeakSource::samples, {}};
    const auto charge = charge_without_files(end);
    const bool charge_grew = charge && *charge > clearly_above(base_peak_);
    const bool resident_grew = !charge_grew && end.single && max_between_ && !contradicts &&
                               resident_anonymous > clearly_above(base_peak_);
    const std::int64_t base = charge_grew     ? *charge
                              : resident_grew ? std::min(resident_anonymous, *max_between_)
                                              : base_peak_;
    if (base > peak_) {
        found.bytes = base;
        found.source = charge_grew ? PeakSource::charge : PeakSource::resident;
    }
    std::int64_t bound = upper_bound(end);
    if (bound == std::numeric_limits<std::int64_t>::max() && resident_anonymous > clearly_above(base))
        bound = *end.resident;
    if (bound != std::numeric_limits<std::int64_t>::max() && bound > clearly_above(base) &&
        bound + max_huge_ > found.bytes)
        found.at_most = bound + max_huge_;
    return found;
}

} // namespace assay
