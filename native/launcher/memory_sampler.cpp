#include "launcher/memory_sampler.hpp"

#include <algorithm>

namespace assay {

namespace {

constexpr Nanos first_interval = nanos_per_milli;

/// A sample may use at most this part of the time: memory.stat of a large machine, or a tree of many processes, is
/// not read for nothing.
constexpr Nanos duty = 50;

} // namespace

MemorySampler::MemorySampler(Containment& containment, Nanos start, Nanos longest)
    : containment_(containment), longest_(longest), interval_(std::min(first_interval, longest)),
      due_(start + interval_), last_(start) {}

void MemorySampler::run(Nanos now) {
    if (const auto held = containment_.held()) {
        peak_ = std::max(peak_.value_or(0), *held);
        widest_ = std::max(widest_, now - last_);
        last_ = now;
        ++samples_;
    }
    interval_ = std::min(interval_ + interval_ / 2, longest_);
    const Nanos cost = now_ns() - now;
    due_ = now + std::max(interval_, cost * duty);
}

} // namespace assay
