#include "launcher/meters/sched_sampler.hpp"

#include "common/files.hpp"
#include "launcher/process/process_tree.hpp"
#include "launcher/readback/reading_budget.hpp"

#include <fcntl.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <iterator>

namespace assay {

namespace {

constexpr Nanos first_interval = 2 * nanos_per_milli;
constexpr Nanos max_sample_interval = 100 * nanos_per_milli;

/// Sampling uses at most 1/400 of the time.
constexpr Nanos duty_divisor = 400;
/// In a tree with more threads, only the first ones are sampled.
constexpr std::size_t min_sampled_threads = 16;
constexpr std::size_t max_sampled_threads = 4096;

struct SchedStat {
    std::int64_t ran = 0;
    std::int64_t waited = 0;
};

Fd open_of_thread(pid_t process, pid_t thread, const char* file) {
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%d/task/%d/%s", process, thread, file);
    return Fd{::open(path, O_RDONLY | O_CLOEXEC)};
}

std::optional<SchedStat> read_schedstat(const Fd& fd) {
    char buffer[96];
    const auto text = fd ? reread(fd.get(), buffer, sizeof buffer) : std::nullopt;
    if (!text) return std::nullopt;
    const char* const end = text->data() + text->size();
    SchedStat stat;
    const auto [rest, error] = std::from_chars(text->data(), end, stat.ran);
    if (error != std::errc{} || rest == end) return std::nullopt;
    if (std::from_chars(rest + 1, end, stat.waited).ec != std::errc{}) return std::nullopt;
    return stat;
}

std::optional<std::int64_t> read_migrations(const Fd& fd) {
    char buffer[4096];
    const auto text = fd ? reread(fd.get(), buffer, sizeof buffer) : std::nullopt;
    return text ? number_after(*text, "se.nr_migrations") : std::nullopt;
}

} // namespace

SchedSampler::SchedSampler(Containment& containment, pid_t program, Nanos start)
    : containment_(containment), program_(program), schedstat_(open_of_thread(program, program, "schedstat")),
      sched_(open_of_thread(program, program, "sched")), start_(start), interval_(first_interval),
      due_(start + interval_) {}

void SchedSampler::run(Nanos now) {
    const Nanos used_before = now_ns(CLOCK_THREAD_CPUTIME_ID);
    ++round_;
    std::size_t left = readable_threads(now - start_, min_sampled_threads, max_sampled_threads);
    bool all = true;
    for (const pid_t process : containment_.processes()) {
        auto threads = threads_of(process, left + 1);
        all = threads.size() <= left;
        if (!all) threads.resize(left);
        left -= threads.size();
        for (const pid_t thread : threads) {
            const auto stat = read_schedstat(open_of_thread(process, thread, "schedstat"));
            const auto moved = read_migrations(open_of_thread(process, thread, "sched"));
            note(thread, stat ? std::optional(stat->waited) : std::nullopt, moved);
        }
        if (!all) break;
    }
    if (all) forget_ended();
    interval_ = std::min(interval_ + interval_ / 2, max_sample_interval);
    const Nanos cost = now_ns(CLOCK_THREAD_CPUTIME_ID) - used_before;
    due_ = now + std::max(interval_, cost * duty_divisor);
}

void SchedSampler::read_ended() {
    const auto stat = read_schedstat(schedstat_);
    const auto moved = read_migrations(sched_);
    if (stat && stat->ran == 0) { // printed by the kernel if sched_info_on() is false
        why_no_wait_ = "the kernel does not record it (boot parameter delayacct)";
    }
    knows_wait_ = stat && stat->ran > 0;
    knows_migrations_ = moved.has_value();
    note(program_, stat ? std::optional(stat->waited) : std::nullopt, moved);
}

void SchedSampler::note(pid_t thread, std::optional<Nanos> waited, std::optional<std::int64_t> migrations) {
    if (!waited && !migrations) return;
    ThreadReading& reading = threads_[thread];
    const ThreadReading now{waited.value_or(reading.waited), migrations.value_or(reading.migrations), round_};
    // Another thread with the same number.
    if (now.waited < reading.waited || now.migrations < reading.migrations) add_to_ended(reading);
    reading = now;
}

void SchedSampler::forget_ended() {
    for (auto it = threads_.begin(); it != threads_.end();) {
        const bool ended = it->second.round != round_;
        if (ended) add_to_ended(it->second);
        it = ended ? threads_.erase(it) : std::next(it);
    }
}

void SchedSampler::add_to_ended(const ThreadReading& reading) {
    ended_.waited += reading.waited;
    ended_.migrations += reading.migrations;
}

std::optional<double> SchedSampler::waited_s() const {
    if (!knows_wait_) return std::nullopt;
    Nanos total = ended_.waited;
    for (const auto& [thread, reading] : threads_) total += reading.waited;
    return seconds(total);
}

std::optional<std::int64_t> SchedSampler::migrations() const {
    if (!knows_migrations_) return std::nullopt;
    std::int64_t total = ended_.migrations;
    for (const auto& [thread, reading] : threads_) total += reading.migrations;
    return total;
}

} // namespace assay
