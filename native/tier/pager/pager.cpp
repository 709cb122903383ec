#include "tier/pager/pager.hpp"

#include "tier/base/private_descriptors.hpp"
#include "tier/base/scoped_signal_block.hpp"

#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <optional>

namespace assay::tier {

Pager::Pager(const Means& means) : chunk_(means.chunk_bytes) {
    Means here = means;
    if (!here.cpu) here.cpu = ::sched_getcpu();
    {
        // Signals are the program's: none is to arrive in a thread that it does not know.
        const Quiet quiet;
        thread_ = std::thread([this, &here] { live(here); });
        begun_.wait(0);
    }
    if (!problem_) return;
    thread_.join();
    std::rethrow_exception(problem_);
}

Pager::~Pager() {
    have([](PagerEngine& engine) { engine.end(); });
    thread_.join();
}

void Pager::live(const Means& means) {
    ::prctl(PR_SET_NAME, thread_name);
    std::optional<Waker> waker;
    std::optional<PagerEngine> engine;
    try {
        own_files(means.budget == nullptr ? -1 : means.budget->file());
        sleeper_ = waker.emplace().sleeper();
        engine_ = &engine.emplace(means, PagerEngine::Callers{errands_, *waker});
    } catch (...) {
        problem_ = std::current_exception();
    }
    const bool lives = engine.has_value();
    begun_.store(1);
    begun_.notify_one();
    if (lives) engine->work();
}

Region* Pager::add(std::byte* at, std::size_t bytes) {
    PagerEngine::Added added{};
    have([&](PagerEngine& engine) { added = engine.add(at, bytes); });
    if (added.region == nullptr) errno = added.error;
    return added.region;
}

void Pager::remove(Region& region) {
    have([&](PagerEngine& engine) { engine.remove(region); });
}

std::size_t Pager::discard(std::byte* at, std::size_t chunks) {
    const std::size_t most = std::min(chunks, most_at_a_time);
    std::size_t discarded = 0;
    have([&](PagerEngine& engine) {
        while (discarded < most && engine.discard(at + discarded * chunk_)) ++discarded;
    });
    return discarded;
}

void Pager::forget(std::byte* at) {
    have([&](PagerEngine& engine) { engine.forget(at); });
}

void Pager::order(Region& region, Order order) {
    have([&](PagerEngine& engine) { engine.order(region, order); });
}

void Pager::done(std::byte* at, std::size_t chunks) {
    while (chunks > 0) {
        const std::size_t some = std::min(chunks, most_at_a_time);
        have([&](PagerEngine& engine) {
            for (std::size_t i = 0; i < some; ++i) engine.done(at + i * chunk_);
        });
        at += some * chunk_;
        chunks -= some;
    }
}

void Pager::expect(std::span<const PagerEngine::Piece> pieces) {
    const Node node = engine_->wanted_here();
    have([&](PagerEngine& engine) { engine.expect(pieces, node); });
}

Counts Pager::counts() {
    Counts counts{};
    have([&](const PagerEngine& engine) { counts = engine.counts(); });
    return counts;
}

} // namespace assay::tier
