#pragma once

/// The queue between producers and their consumer. Local to each file that includes it: see hash/lanes.hpp.
///
/// Producers are modelled: each has a time at which its next chunk is full. With threads as producers, a
/// measurement on a machine with few cores would show the scheduling of threads, not the queue. Chunks are in
/// memory before the measurement, as if a network card had written them.

#include "kernels/hash-queue/work.hpp"

#include <time.h>

namespace {

using assay::kernels::Hashing;
using assay::kernels::Intake;
using assay::kernels::max_producers;

inline std::int64_t clock_ns() {
    timespec t{};
    ::clock_gettime(CLOCK_MONOTONIC, &t);
    return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

/// Chunks that the consumer has taken, each only once.
struct Batch {
    std::size_t which[max_producers];
    std::size_t count = 0;
};

class Producers {
  public:
    Producers(const Intake& work, std::int64_t now_ns) : work_(work) {
        for (std::size_t p = 0; p < work.producers; ++p) {
            next_[p] = p;
            full_ns_[p] = now_ns + filling_ns(p);
        }
    }

    /// Take full chunks up to a limit, beginning with another producer each time.
    void take(Batch& batch, std::size_t max_count, std::int64_t now_ns) {
        for (std::size_t i = 0; i < work_.producers && batch.count < max_count; ++i) {
            const std::size_t p = (first_ + i) % work_.producers;
            if (next_[p] >= work_.chunks.messages || full_ns_[p] > now_ns) continue;
            full_ns_[p] = INT64_MAX; // no further chunk until the digest is returned
            batch.which[batch.count++] = next_[p];
        }
        first_ = (first_ + 1) % work_.producers;
    }

    /// Return digests to their producers, which begin to fill their next chunks.
    void give(const Batch& batch, std::int64_t now_ns) {
        for (std::size_t i = 0; i < batch.count; ++i) {
            const std::size_t p = batch.which[i] % work_.producers;
            next_[p] += work_.producers;
            full_ns_[p] = now_ns + filling_ns(next_[p]);
        }
    }

    /// Return the number of producers whose last chunk was not hashed yet.
    [[nodiscard]] std::size_t left() const {
        std::size_t found = 0;
        for (std::size_t p = 0; p < work_.producers; ++p) found += next_[p] < work_.chunks.messages;
        return found;
    }

  private:
    /// Return the time to fill a chunk, from half to one and a half of the mean. It is always the same for
    /// the same chunk.
    [[nodiscard]] std::int64_t filling_ns(std::size_t chunk) const {
        const std::uint64_t mixed = (chunk + 1) * 0x9e3779b97f4a7c15; // Knuth's multiplicative hashing
        return work_.gap_ns / 2 + work_.gap_ns * static_cast<std::int64_t>(mixed >> 54U) / 1024;
    }

    const Intake& work_;
    std::size_t next_[max_producers];
    std::int64_t full_ns_[max_producers];
    std::size_t first_ = 0;
};

/// Consume chunks: take the available ones, hash them and return their digests, until none is left.
///
/// \tparam Lanes type with `max_count`, the maximum number of chunks hashed at once, and `hash`, which writes
/// their digests. \tparam patient true to wait for as many chunks as `worth_waiting_for` returns, but no
/// longer than the previous batch took: a useless wait then takes at most half of the time.
template <class Lanes, bool patient = false>
inline void consume(const Intake& work) {
    const std::int64_t begin_ns = clock_ns();
    Producers producers(work, begin_ns);
    Lanes lanes;
    const std::size_t max_count = lanes.max_count(work.chunks);
    std::int64_t busy_ns = 0, took_ns = 0, now_ns = begin_ns;
    for (std::size_t done = 0; done < work.chunks.messages;) {
        Batch batch;
        std::size_t enough = 1;
        if constexpr (patient)
            enough = lanes.worth_waiting_for(producers.left() < max_count ? producers.left() : max_count);
        std::int64_t until_ns = INT64_MAX;
        while (batch.count < enough && now_ns < until_ns) {
            now_ns = clock_ns();
            const std::size_t before = batch.count;
            producers.take(batch, max_count, now_ns);
            if (before == 0 && batch.count > 0) until_ns = now_ns + took_ns;
        }
        const std::int64_t from_ns = clock_ns();
        lanes.hash(work.chunks, batch.which, batch.count);
        now_ns = clock_ns();
        took_ns = now_ns - from_ns;
        busy_ns += took_ns;
        producers.give(batch, now_ns);
        done += batch.count;
    }
    *work.busy_ns = busy_ns;
    *work.whole_ns = now_ns - begin_ns;
}

} // namespace
