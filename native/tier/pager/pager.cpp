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

Pager::Pager(const PagerConfig& config) : chunk_(config.chunk_bytes) {
    PagerConfig here = config;
    if (!here.cpu) here.cpu = ::sched_getcpu();
    {
        // Signals belong to the program: none may be delivered to a thread unknown to it.
        const ScopedSignalBlock block_signals;
        thread_ = std::thread([this, &here] { run_thread(here); });
        started_.wait(0);
    }
    if (!start_error_) return;
    thread_.join();
    std::rethrow_exception(start_error_);
}

Pager::~Pager() {
    run_on_thread([](PagerEngine& engine) { engine.stop(); });
    thread_.join();
}

void Pager::run_thread(const PagerConfig& config) {
    ::prctl(PR_SET_NAME, thread_name);
    std::optional<ThreadWaker> waker;
    std::optional<PagerEngine> engine;
    try {
        unshare_descriptors(config.budget == nullptr ? -1 : config.budget->fd());
        thread_handle_ = waker.emplace().target();
        engine_ = &engine.emplace(config, PagerEngine::Callers{work_, *waker});
    } catch (...) {
        start_error_ = std::current_exception();
    }
    const bool lives = engine.has_value();
    started_.store(1);
    started_.notify_one();
    if (lives) engine->work();
}

Region* Pager::add(std::byte* at, std::size_t bytes) {
    PagerEngine::AddResult added{};
    run_on_thread([&](PagerEngine& engine) { added = engine.add(at, bytes); });
    if (added.region == nullptr) errno = added.error;
    return added.region;
}

void Pager::remove(Region& region) {
    run_on_thread([&](PagerEngine& engine) { engine.remove(region); });
}

std::size_t Pager::discard(std::byte* at, std::size_t chunks) {
    const std::size_t max = std::min(chunks, max_batch);
    std::size_t discarded = 0;
    run_on_thread([&](PagerEngine& engine) {
        while (discarded < max && engine.discard(at + discarded * chunk_)) ++discarded;
    });
    return discarded;
}

void Pager::forget(std::byte* at) {
    run_on_thread([&](PagerEngine& engine) { engine.forget(at); });
}

void Pager::advise(Region& region, AccessPattern pattern) {
    run_on_thread([&](PagerEngine& engine) { engine.advise(region, pattern); });
}

void Pager::evict(std::byte* at, std::size_t chunks) {
    while (chunks > 0) {
        const std::size_t some = std::min(chunks, max_batch);
        run_on_thread([&](PagerEngine& engine) {
            for (std::size_t i = 0; i < some; ++i) engine.evict(at + i * chunk_);
        });
        at += some * chunk_;
        chunks -= some;
    }
}

void Pager::prefetch(std::span<const PagerEngine::ByteRange> ranges) {
    const Node node = engine_->preferred_node_here();
    run_on_thread([&](PagerEngine& engine) { engine.prefetch(ranges, node); });
}

Counts Pager::counts() {
    Counts counts{};
    run_on_thread([&](const PagerEngine& engine) { counts = engine.counts(); });
    return counts;
}

} // namespace assay::tier
