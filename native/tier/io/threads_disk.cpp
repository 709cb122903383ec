#include "tier/base/event.hpp"
#include "tier/base/scoped_signal_block.hpp"
#include "tier/io/disk.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace assay::tier {

namespace {

/// Perform a transfer. \returns an error number, 0 if all bytes were transferred.
int transfer_all(const Store& store, const Transfer& t) {
    std::size_t done = 0;
    const int file = store.file_of(t.position);
    while (done < t.bytes) {
        const auto offset = static_cast<off_t>(store.offset_of(t.position) + done);
        const std::size_t bytes = t.bytes - done;
        const ssize_t got = t.write ? ::pwrite(file, t.memory + done, bytes, offset)
                                    : ::pread(file, t.memory + done, bytes, offset);
        if (got < 0 && errno != EINTR && errno != EAGAIN) return errno;
        if (got == 0) return EIO;
        if (got > 0) done += static_cast<std::size_t>(got);
    }
    return 0;
}

class ThreadsDisk final : public Disk {
  public:
    ThreadsDisk(const Store& store, unsigned depth, unsigned threads)
        : store_(store), depth_(depth), queue_(depth), completed_(depth) {
        // Signals belong to the program: none may be delivered to a thread unknown to it.
        const ScopedSignalBlock block_signals;
        for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
    }
    ThreadsDisk(const ThreadsDisk&) = delete;
    ThreadsDisk& operator=(const ThreadsDisk&) = delete;
    ~ThreadsDisk() override {
        {
            const std::lock_guard lock(mutex_);
            stop_ = true;
        }
        work_available_.notify_all();
        for (std::thread& one : threads_) one.join();
    }

    [[nodiscard]] bool start(const Transfer& transfer) override {
        const std::lock_guard lock(mutex_);
        if (in_flight_ == depth_) return false;
        ++in_flight_;
        queue_.add(transfer);
        return true;
    }

    void submit() override { work_available_.notify_all(); }

    [[nodiscard]] int ready() const override { return event_.fd(); }

    [[nodiscard]] bool next(Completed& ended) override {
        const std::lock_guard lock(mutex_);
        static_cast<void>(event_.clear());
        if (completed_.empty()) return false;
        ended = completed_.take_last();
        --in_flight_;
        return true;
    }

  private:
    void work() {
        ::prctl(PR_SET_NAME, thread_name);
        std::unique_lock lock(mutex_);
        for (;;) {
            work_available_.wait(lock, [this] { return stop_ || !queue_.empty(); });
            if (queue_.empty()) return;
            const Transfer transfer = queue_.take_first();
            lock.unlock();
            const int error = transfer_all(store_, transfer);
            lock.lock();
            completed_.add(Completed{transfer, error});
            event_.signal();
        }
    }

    const Store& store_;
    unsigned depth_;
    Event event_;
    std::mutex mutex_;
    std::condition_variable work_available_;
    Table<Transfer> queue_;
    Table<Completed> completed_;
    unsigned in_flight_ = 0;
    bool stop_ = false;
    std::vector<std::thread> threads_;
};

} // namespace

std::unique_ptr<Disk> threads_disk(const Store& store, unsigned depth, unsigned threads) {
    return std::make_unique<ThreadsDisk>(store, depth, threads);
}

std::unique_ptr<Disk> any_disk(const Store& store, unsigned depth) {
    constexpr unsigned threads = 8;
    if (uring_error() != 0) return threads_disk(store, depth, std::min(depth, threads));
    return uring_disk(store, depth);
}

} // namespace assay::tier
