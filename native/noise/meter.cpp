#include "noise/meter.hpp"

#include "noise/work.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <utility>

namespace assay::noise {

namespace {

/// Minimum distance between two readings of the interrupt tables, as a multiple of their duration, so that
/// readings take at most 1/20 of the measurement. An additional reading follows each detour that is among the
/// worst and longer than a reading.
constexpr Nanos read_spacing = 20;
constexpr int tries = 2000;       // to find the fastest time of a piece
constexpr std::size_t slack = 64; // additional values in preallocated pages
/// Number of detours in preallocated pages. Further detours are recorded in pages that are touched only then.
constexpr std::size_t preallocated_detours = 1U << 16;

/// Pause of the measurement for a reading.
struct ReadPause {
    Nanos until = 0;
    Nanos undisturbed = 0;
};

bool longer(const DetourReport& a, const DetourReport& b) {
    return a.detour.duration > b.detour.duration;
}

/// Records detours, and kernel counts for the worst of them.
class DetourRecorder {
  public:
    DetourRecorder(const Request& request, int cpu, CpuResult& result)
        : request_(request), result_(result), interrupts_(cpu) {
        const Nanos read_start = now_ns();
        static_cast<void>(interrupts_.read());
        read_duration_ = now_ns() - read_start;
    }

    /// Begin the measurement, after all preparations. Return the start time.
    Nanos begin() {
        static_cast<void>(interrupts_.read());
        last_read_ = now_ns();
        static_cast<void>(account_.read());
        began_ = now_ns();
        return began_;
    }

    /// Record the time between two points beyond `min_piece` as a detour. Detours during the reading itself
    /// are recorded too, from scheduler accounting.
    ReadPause record(Nanos from, Nanos to, Nanos min_piece) {
        const ThreadActivity activity = account_.read();
        const Nanos read_start = account_.at();
        const Nanos late =
            read_start - to > request_.threshold ? read_start - to : 0; // the detour was not over yet
        const Detour detour = add(from, to - from - min_piece + late);
        DetourReport report{detour, activity, {}, 0};
        if ((detour.duration > read_duration_ && is_among_worst(report)) ||
            read_start - last_read_ > read_spacing * read_duration_) {
            report.interrupts = interrupts_.read();
            report.interrupt_window = read_start - last_read_;
            last_read_ = now_ns();
            read_duration_ = std::min(last_read_ - read_start,
                                      2 * read_duration_); // the reading may have been interrupted
        }
        add_to_worst(std::move(report));
        Nanos all_lost = 0;
        for (;;) {
            const Nanos began = account_.at();
            const Nanos ran = account_.ran();
            const Nanos ran_now = now_ns(CLOCK_THREAD_CPUTIME_ID);
            const Nanos now = now_ns();
            if ((now - began) - (ran_now - ran) <= request_.threshold) {
                const Nanos worked = now - read_start - all_lost;
                result_.read_time += worked;
                return {now, worked};
            }
            const ThreadActivity meanwhile = account_.read();
            const Nanos lost = (account_.at() - began) - (account_.ran() - ran);
            if (lost <= request_.threshold)
                continue; // an interrupt between the two clock readings is not a detour
            add_to_worst({add(began, lost), meanwhile, {}, 0});
            all_lost += lost;
        }
    }

  private:
    Detour add(Nanos start, Nanos duration) {
        const Detour detour{start - began_, duration};
        if (result_.detours.size() < request_.max_values)
            result_.detours.push_back(detour);
        else
            ++result_.dropped;
        return detour;
    }

    [[nodiscard]] bool is_among_worst(const DetourReport& report) const {
        const auto& worst = result_.worst;
        return worst.size() < request_.worst || (!worst.empty() && longer(report, worst.front()));
    }

    void add_to_worst(DetourReport report) {
        if (!is_among_worst(report)) return;
        auto& worst = result_.worst;
        if (worst.size() == request_.worst) {
            std::pop_heap(worst.begin(), worst.end(), longer);
            worst.pop_back();
        }
        worst.push_back(std::move(report));
        std::push_heap(worst.begin(), worst.end(), longer);
    }

    const Request& request_;
    CpuResult& result_;
    Interrupts interrupts_;
    SchedulerAccount account_;
    Nanos began_ = 0;
    Nanos last_read_ = 0;
    Nanos read_duration_ = 0;
};

/// Values of method selfish: none, because this method uses detours only.
struct NoValues {
    void add_work(Nanos, Nanos) {}
    void add_pause(Nanos, const ReadPause&) {}
};

/// Durations of a fixed number of pieces. Readings are excluded but detours during them are included: a
/// waiting thread is often preempted exactly there.
class FixedWork {
  public:
    FixedWork(std::uint64_t pieces, const Request& request, CpuResult& result)
        : pieces_(pieces), max_values_(request.max_values), result_(result) {}

    void add_work(Nanos from, Nanos to) {
        took_ += to - from;
        if (++done_ < pieces_) return;
        if (result_.values.size() < max_values_)
            result_.values.push_back(took_);
        else
            ++result_.dropped;
        took_ = 0;
        done_ = 0;
    }

    void add_pause(Nanos from, const ReadPause& pause) { took_ += pause.until - from - pause.undisturbed; }

  private:
    std::uint64_t pieces_;
    std::size_t max_values_;
    CpuResult& result_;
    Nanos took_ = 0;
    std::uint64_t done_ = 0;
};

/// Steps done in each interval. Intervals lie on a fixed grid, because a spectrum needs equal spacing. The
/// work of a piece is spread evenly over its duration, and a reading counts as undisturbed work.
class FixedTime {
  public:
    FixedTime(double piece, const Nanos& min_piece, Nanos began, const Request& request, CpuResult& result)
        : piece_(piece), min_piece_(min_piece), quantum_(request.quantum), until_(began + quantum_),
          max_values_(request.max_values), result_(result) {}

    void add_work(Nanos from, Nanos to) { spread(from, to, piece_); }

    void add_pause(Nanos from, const ReadPause& pause) {
        const double pieces =
            static_cast<double>(pause.undisturbed) / static_cast<double>(std::max<Nanos>(min_piece_, 1));
        spread(from, pause.until, piece_ * pieces);
    }

  private:
    void spread(Nanos from, Nanos to, double steps) {
        for (; to >= until_; until_ += quantum_) {
            const double part = steps * static_cast<double>(until_ - from) / static_cast<double>(to - from);
            if (result_.values.size() < max_values_)
                result_.values.push_back(std::llround(steps_ + part));
            else
                ++result_.dropped;
            steps -= part;
            steps_ = 0.0;
            from = until_;
        }
        steps_ += steps;
    }

    double piece_;
    const Nanos& min_piece_;
    Nanos quantum_;
    Nanos until_;
    std::size_t max_values_;
    CpuResult& result_;
    double steps_ = 0.0;
};

/// Run pieces of work until the end and record their values. A detour is the time of a piece beyond the
/// fastest piece, if it exceeds the threshold.
template <typename Values>
void run_pieces(std::uint64_t piece, const Request& request, Nanos began, const std::atomic<bool>& stop,
                Nanos& min_piece, DetourRecorder& recorder, Values& values) {
    const Nanos end = began + request.length;
    for (Nanos before = began; before < end && !stop.load(std::memory_order_relaxed);) {
        work(piece);
        const Nanos now = now_ns();
        const Nanos took = now - before;
        min_piece = std::min(min_piece, took);
        values.add_work(before, now);
        if (took - min_piece > request.threshold) {
            const ReadPause pause = recorder.record(before, now, min_piece);
            values.add_pause(now, pause);
            before = pause.until;
        } else {
            before = now;
        }
    }
}

template <typename T>
void reserve_pages(std::vector<T>& values, std::size_t count) {
    values.resize(count);
    values.clear();
}

bool pin_to_cpu(int cpu) {
    // The largest CPU set of the kernel: cpu_set_t holds 1024 CPUs only.
    constexpr int max_cpus = 8192;
    if (cpu >= max_cpus) {
        errno = EINVAL;
        return false;
    }
    std::vector<cpu_set_t> set(max_cpus / CPU_SETSIZE);
    const std::size_t size = set.size() * sizeof(cpu_set_t);
    CPU_ZERO_S(size, set.data());
    CPU_SET_S(static_cast<std::size_t>(cpu), size, set.data());
    return ::sched_setaffinity(0, size, set.data()) == 0;
}

} // namespace

CpuResult measure(const Request& request, int cpu, StartBarrier& barrier, const std::atomic<bool>& stop) {
    CpuResult result;
    result.cpu = cpu;
    if (!pin_to_cpu(cpu)) {
        result.error = std::strerror(errno);
        barrier.ready();
        return result;
    }
    // A piece takes as long as the threshold, so that a CPU at half its frequency does not appear as a
    // detour.
    std::uint64_t piece = 0;
    std::uint64_t pieces = 1;
    if (request.method != Method::selfish) {
        const Nanos length = std::min(request.threshold, request.quantum);
        pieces = static_cast<std::uint64_t>(std::max<Nanos>(1, request.quantum / length));
        piece = std::max<std::uint64_t>(1, steps_for(request.quantum) / pieces);
        result.steps = pieces * piece;
    }
    result.min_piece = min_duration(piece, tries);
    // The first access to a page would be a detour caused by this program.
    const auto intervals = static_cast<std::size_t>(request.length / request.quantum);
    if (request.method != Method::selfish)
        reserve_pages(result.values, std::min(request.max_values, intervals + slack));
    reserve_pages(result.detours, std::min(request.max_values, preallocated_detours));
    result.worst.reserve(request.worst + 1);
    DetourRecorder recorder(request, cpu, result);
    Interrupts all(cpu);
    barrier.ready();
    static_cast<void>(all.read());
    const Nanos began = recorder.begin();
    switch (request.method) {
    case Method::fixed_work: {
        FixedWork values(pieces, request, result);
        run_pieces(piece, request, began, stop, result.min_piece, recorder, values);
        break;
    }
    case Method::fixed_time: {
        FixedTime values(static_cast<double>(piece), result.min_piece, began, request, result);
        run_pieces(piece, request, began, stop, result.min_piece, recorder, values);
        break;
    }
    case Method::selfish: {
        NoValues values;
        run_pieces(piece, request, began, stop, result.min_piece, recorder, values);
        break;
    }
    }
    result.length = now_ns() - began;
    result.interrupts = all.read();
    std::sort(result.worst.begin(), result.worst.end(), longer);
    return result;
}

} // namespace assay::noise
