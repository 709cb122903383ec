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

constexpr std::int64_t most_part_of_files = 8;
constexpr std::int64_t few_shared =
    1 << 20; // with more of it, neither page faults nor the resident set bound anything

/// Return the least value that is clearly above a figure: the charge includes memory that the kernel keeps
/// for the tree, and the counts of a process come late by some pages for each CPU.
std::int64_t clearly_above(std::int64_t bytes) {
    constexpr std::int64_t near = 1 << 20;
    return bytes + std::max(near, bytes / 20);
}

/// The third number of /proc/PID/statm: file and shared pages that are mapped.
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

MemorySampler::MemorySampler(Containment& containment, const Shared& shared, pid_t program, Nanos start,
                             Nanos longest, double share)
    : containment_(containment), shared_(shared), longest_(longest), share_(share),
      interval_(std::min(first_interval, longest)), due_(start + interval_), program_(program) {
    before_.faulted = 0;
}

void MemorySampler::run(Nanos now) {
    // CPU time: being pushed off the CPU while sampling must not silence us.
    const Nanos used_before = now_ns(CLOCK_THREAD_CPUTIME_ID);
    // Until exec the child's memory is our own.
    const Nanos started = shared_.started_ns.load(std::memory_order_relaxed);
    if (const auto held = started != 0 ? containment_.held() : std::nullopt) {
        take(*held);
        widest_ = std::max(widest_, now - (last_ != 0 ? last_ : started));
        last_ = now;
        ++samples_;
    }
    interval_ = std::min(interval_ + interval_ / 2, longest_);
    const Nanos cost = now_ns(CLOCK_THREAD_CPUTIME_ID) - used_before;
    // To read memory.stat of a large machine, or a tree of many processes, takes long.
    due_ = now + std::max(interval_, static_cast<Nanos>(static_cast<double>(cost) / share_));
}

void MemorySampler::take(const HeldMemory& held) {
    peak_ = std::max(peak_, held.all());
    base_peak_ = std::max(base_peak_, held.anonymous);
    most_huge_ = std::max(most_huge_, held.huge);
    if (!held.huge_charged) uncharged_huge_ = most_huge_;
    if (held.cache) most_cache_ = std::max(most_cache_.value_or(0), *held.cache);

    auto files = held.files;
    if (!files) {
        if (!statm_)
            statm_ =
                Fd{::open(("/proc/" + std::to_string(program_) + "/statm").c_str(), O_RDONLY | O_CLOEXEC)};
        files = mapped_files(statm_);
    }
    if (files) {
        most_files_ = std::max(most_files_, *files);
        least_files_ = std::min(least_files_.value_or(*files), *files);
    }

    shares_ = shares_ || held.shared > few_shared;
    if (shares_) most_between_.reset();
    if (most_between_ && held.faulted && before_.faulted)
        most_between_ = std::max(*most_between_, before_.anonymous + *held.faulted - *before_.faulted);
    else
        most_between_.reset();
    before_ = held;
}

/// Return a lower bound of the memory that the tree held when most was charged, for a program that was gone
/// before it was looked at: the charge without the most file pages that were ever seen, which need not have
/// been there then, and no more than the largest process had resident beside the files that it has mapped,
/// should files have come and gone unseen.
std::optional<std::int64_t> MemorySampler::worked_out(const TreeEnd& end) const {
    // Files may come and go between two samples: where there are many, the difference is no longer known.
    if (!end.charged || !end.resident || !most_cache_ || *most_cache_ > *end.charged / most_part_of_files)
        return std::nullopt;
    return std::min(*end.charged - *most_cache_, without_files(end));
}

/// Return the highest resident set of the largest process, less the most file pages that were seen.
std::int64_t MemorySampler::without_files(const TreeEnd& end) const {
    return end.resident.value_or(0) - most_files_;
}

/// Return an upper bound of the memory of the tree; the largest number where nothing bounds it.
std::int64_t MemorySampler::upper(const TreeEnd& end) const {
    std::int64_t most = std::numeric_limits<std::int64_t>::max();
    if (end.charged) most = *end.charged;
    if (most_between_) most = std::min(most, *most_between_);
    if (end.single && end.resident && !shares_)
        most = std::min(most, *end.resident - least_files_.value_or(0));
    return most;
}

MemoryPeak MemorySampler::peak(const TreeEnd& end) {
    if (const auto held = containment_.held()) {
        if (held->cache) most_cache_ = std::max(most_cache_.value_or(0), *held->cache);
        if (held->faulted && before_.faulted && most_between_)
            most_between_ = std::max(*most_between_, before_.anonymous + *held->faulted - *before_.faulted);
    }
    const std::int64_t alone = without_files(end);
    // More than page faults can have brought: they are file pages that came and went, or the other way round.
    const bool contradicts = most_between_ && alone > clearly_above(*most_between_);
    MemoryPeak found{peak_, PeakSource::samples, {}};
    const auto charge = worked_out(end);
    const bool grown = charge && *charge > clearly_above(base_peak_);
    const bool missed =
        !grown && end.single && most_between_ && !contradicts && alone > clearly_above(base_peak_);
    const std::int64_t base = grown ? *charge : missed ? std::min(alone, *most_between_) : base_peak_;
    if (base > peak_) {
        found.bytes = base;
        found.source = grown ? PeakSource::charge : PeakSource::resident;
    }
    std::int64_t most = upper(end);
    if (most == std::numeric_limits<std::int64_t>::max() && alone > clearly_above(base)) most = *end.resident;
    if (most != std::numeric_limits<std::int64_t>::max() && most > clearly_above(base) &&
        most + most_huge_ > found.bytes)
        found.at_most = most + most_huge_;
    return found;
}

} // namespace assay
