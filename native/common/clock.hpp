#pragma once

#include <sys/time.h>
#include <time.h>

#include <cstdint>

namespace assay {

/// Time in nanoseconds; points in time are of CLOCK_MONOTONIC.
using Nanos = std::int64_t;

inline constexpr Nanos nanos_per_second = 1'000'000'000;
inline constexpr Nanos nanos_per_milli = 1'000'000;
inline constexpr Nanos never = INT64_MAX;

inline Nanos to_nanos(const timespec& t) {
    return static_cast<Nanos>(t.tv_sec) * nanos_per_second + t.tv_nsec;
}

inline Nanos to_nanos(const timeval& t) {
    return static_cast<Nanos>(t.tv_sec) * nanos_per_second + static_cast<Nanos>(t.tv_usec) * 1000;
}

inline timespec to_timespec(Nanos t) {
    return {.tv_sec = t / nanos_per_second, .tv_nsec = t % nanos_per_second};
}

inline Nanos now_ns(clockid_t clock = CLOCK_MONOTONIC) {
    timespec t{};
    ::clock_gettime(clock, &t);
    return to_nanos(t);
}

inline double seconds(Nanos t) {
    return static_cast<double>(t) / 1e9;
}

/// Convert a value that was range-checked; more than 292 years becomes `never`.
inline Nanos from_seconds(double s) {
    return s >= 9.2e9 ? never : static_cast<Nanos>(s * 1e9);
}

} // namespace assay
