#pragma once

/// The queue between producers and their consumer. Local to each file that includes it: see hash/lanes.hpp.
///
/// Producers are modelled: each has a time at which its next chunk is full. With threads for them a machine
/// of few cores would show how it shares those out, and nothing of the queue (and chunks lie in memory before
/// it begins, as they would that a network card has written).

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

/// Chunks that the consumer has taken; the same chunk is never in it twice.
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

    /// Takes full chunks up to a limit; from another producer first each time.
    void take(Batch& batch, std::size_t most, std::int64_t now_ns) {
        for (std::size_t i = 0; i < work_.producers && batch.count < most; ++i) {
            const std::size_t p = (first_ + i) % work_.producers;
            if (next_[p] >= work_.chunks.messages || full_ns_[p] > now_ns) continue;
            full_ns_[p] = INT64_MAX; // nothing more before its digest is back
            batch.which[batch.count++] = next_[p];
        }
        first_ = (first_ + 1) % work_.producers;
    }

    /// Returns digests: their producers fill their next chunks.
    void give(const Batch& batch, std::int64_t now_ns) {
        for (std::size_t i = 0; i < batch.count; ++i) {
            const std::size_t p = batch.which[i] % work_.producers;
            next_[p] += work_.producers;
            full_ns_[p] = now_ns + filling_ns(next_[p]);
        }
    }

    /// Producers that have a chunk left, waiting for a digest or not.
    [[nodiscard]] std::size_t left() const {
        std::size_t found = 0;
        for (std::size_t p = 0; p < work_.producers; ++p) found += next_[p] < work_.chunks.messages;
        return found;
    }

  private:
    /// Returns a length from half of the mean to one and a half; always the same for one chunk.
    [[nodiscard]] std::int64_t filling_ns(std::size_t chunk) const {
        const std::uint64_t mixed = (chunk + 1) * 0x9e3779b97f4a7c15; // Knuth's multiplicative hashing
        return work_.gap_ns / 2 + work_.gap_ns * static_cast<std::int64_t>(mixed >> 54U) / 1024;
    }

    const Intake& work_;
    std::size_t next_[max_producers];
    std::int64_t full_ns_[max_producers];
    std::size_t first_ = 0;
};

/// Consumes chunks: takes the available ones, hashes them and returns them, until none is left.
///
/// \tparam Lanes has `most`, the number of chunks that it takes at once, and `hash`, which returns their
/// digests. \tparam patient waits for as many as `worth_waiting_for` states, at most as long as the previous
/// batch took: an unsuccessful wait then costs no more than half of the time.
template <class Lanes, bool patient = false>
inline void consume(const Intake& work) {
    const std::int64_t begin_ns = clock_ns();
    Producers producers(work, begin_ns);
    Lanes lanes;
    const std::size_t most = lanes.most(work.chunks);
    std::int64_t busy_ns = 0, took_ns = 0, now_ns = begin_ns;
    for (std::size_t done = 0; done < work.chunks.messages;) {
        Batch batch;
        std::size_t enough = 1;
        if constexpr (patient)
            enough = lanes.worth_waiting_for(producers.left() < most ? producers.left() : most);
        std::int64_t until_ns = INT64_MAX;
        while (batch.count < enough && now_ns < until_ns) {
            now_ns = clock_ns();
            const std::size_t before = batch.count;
            producers.take(batch, most, now_ns);
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
