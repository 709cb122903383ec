#include "launcher/memory_sampler.hpp"

#include <algorithm>

namespace assay {

namespace {

constexpr Nanos first_interval = nanos_per_milli;

constexpr std::int64_t most_part_of_files = 8;

} // namespace

MemorySampler::MemorySampler(Containment& containment, const Shared& shared, Nanos start, Nanos longest,
                             double share)
    : containment_(containment), shared_(shared), longest_(longest), share_(share),
      interval_(std::min(first_interval, longest)), due_(start + interval_) {}

void MemorySampler::run(Nanos now) {
    // CPU time: being pushed off the CPU while sampling must not silence us.
    const Nanos used_before = now_ns(CLOCK_THREAD_CPUTIME_ID);
    // Until exec the child's memory is our own.
    const Nanos started = shared_.started_ns.load(std::memory_order_relaxed);
    if (const auto held = started != 0 ? containment_.held() : std::nullopt) {
        peak_ = std::max(peak_.value_or(0), held->anonymous);
        if (held->cache) most_cache_ = std::max(most_cache_.value_or(0), *held->cache);
        widest_ = std::max(widest_, now - (last_ != 0 ? last_ : started));
        last_ = now;
        ++samples_;
    }
    interval_ = std::min(interval_ + interval_ / 2, longest_);
    const Nanos cost = now_ns(CLOCK_THREAD_CPUTIME_ID) - used_before;
    // To read memory.stat of a large machine, or a tree of many processes, takes long.
    due_ = now + std::max(interval_, static_cast<Nanos>(static_cast<double>(cost) / share_));
}

std::optional<std::int64_t> MemorySampler::at_peak(std::int64_t charged, std::int64_t resident) {
    if (const auto held = containment_.held(); held && held->cache)
        most_cache_ = std::max(most_cache_.value_or(0), *held->cache);
    // Files may come and go between two samples: where there are many, the difference is no longer known.
    if (!most_cache_ || *most_cache_ > charged / most_part_of_files) return std::nullopt;
    return std::min(charged - *most_cache_, resident);
}

} // namespace assay
