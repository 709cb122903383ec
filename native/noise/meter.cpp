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

/// A look at the interrupts is this many times its own time away from the one before it at least, so that the
/// looks take a twentieth of the measurement at most; a detour that is longer than a look is looked at
/// besides while it is one of the worst.
constexpr Nanos apart = 20;
constexpr int tries = 2000;
constexpr std::size_t slack = 64;
/// More than this are noted too, in pages that are touched when they come.
constexpr std::size_t most_detours = 1U << 16;

/// A look: when the measurement goes on, and how long it took without what was taken away meanwhile.
struct Pause {
    Nanos until = 0;
    Nanos worked = 0;
};

bool longer(const Told& a, const Told& b) {
    return a.detour.took > b.detour.took;
}

/// Notes detours, and for the worst of them what the kernel counted.
class Notes {
  public:
    Notes(const Request& request, int cpu, Reading& reading)
        : request_(request), reading_(reading), interrupts_(cpu) {
        const Nanos looking = now_ns();
        static_cast<void>(interrupts_.look());
        look_took_ = now_ns() - looking;
    }

    /// When the measurement begins: after all that prepares it.
    Nanos begin() {
        static_cast<void>(interrupts_.look());
        looked_at_ = now_ns();
        static_cast<void>(witness_.look());
        began_ = now_ns();
        return began_;
    }

    /// Notes what lies between two points in time beyond `least`. What is taken away while it looks is noted
    /// as well, by the account of the scheduler.
    Pause note(Nanos from, Nanos to, Nanos least) {
        const Circumstances circumstances = witness_.look();
        const Nanos looking = witness_.at();
        const Nanos late = looking - to > request_.threshold ? looking - to : 0; // it was not over yet
        const Detour detour = add(from, to - from - least + late);
        Told told{detour, circumstances, {}, 0};
        if ((detour.took > look_took_ && is_kept(told)) || looking - looked_at_ > apart * look_took_) {
            told.interrupts = interrupts_.look();
            told.window = looking - looked_at_;
            looked_at_ = now_ns();
            look_took_ = std::min(looked_at_ - looking, 2 * look_took_); // it may have been interrupted
        }
        keep(std::move(told));
        Nanos all_lost = 0;
        for (;;) {
            const Nanos began = witness_.at();
            const Nanos ran = witness_.ran();
            const Nanos ran_now = now_ns(CLOCK_THREAD_CPUTIME_ID);
            const Nanos on = now_ns();
            if ((on - began) - (ran_now - ran) <= request_.threshold) {
                const Nanos worked = on - looking - all_lost;
                reading_.looked += worked;
                return {on, worked};
            }
            const Circumstances meanwhile = witness_.look();
            const Nanos lost = (witness_.at() - began) - (witness_.ran() - ran);
            if (lost <= request_.threshold) continue; // an interrupt between two clocks is no loss
            keep({add(began, lost), meanwhile, {}, 0});
            all_lost += lost;
        }
    }

  private:
    Detour add(Nanos at, Nanos took) {
        const Detour detour{at - began_, took};
        if (reading_.detours.size() < request_.most)
            reading_.detours.push_back(detour);
        else
            ++reading_.left_out;
        return detour;
    }

    [[nodiscard]] bool is_kept(const Told& told) const {
        const auto& worst = reading_.worst;
        return worst.size() < request_.worst || (!worst.empty() && longer(told, worst.front()));
    }

    void keep(Told told) {
        if (!is_kept(told)) return;
        auto& worst = reading_.worst;
        if (worst.size() == request_.worst) {
            std::pop_heap(worst.begin(), worst.end(), longer);
            worst.pop_back();
        }
        worst.push_back(std::move(told));
        std::push_heap(worst.begin(), worst.end(), longer);
    }

    const Request& request_;
    Reading& reading_;
    Interrupts interrupts_;
    Witness witness_;
    Nanos began_ = 0;
    Nanos looked_at_ = 0;
    Nanos look_took_ = 0;
};

/// What selfish keeps of the pieces: nothing, for it needs their detours only.
struct Nothing {
    void worked(Nanos, Nanos) {}
    void paused(Nanos, const Pause&) {}
};

/// How long each so many pieces took. Looks do not count, but what is taken away during them does: a thread
/// that waits for its turn is often put aside just there.
class FixedWork {
  public:
    FixedWork(std::uint64_t pieces, const Request& request, Reading& reading)
        : pieces_(pieces), most_(request.most), reading_(reading) {}

    void worked(Nanos from, Nanos to) {
        took_ += to - from;
        if (++done_ < pieces_) return;
        if (reading_.values.size() < most_)
            reading_.values.push_back(took_);
        else
            ++reading_.left_out;
        took_ = 0;
        done_ = 0;
    }

    void paused(Nanos from, const Pause& pause) { took_ += pause.until - from - pause.worked; }

  private:
    std::uint64_t pieces_;
    std::size_t most_;
    Reading& reading_;
    Nanos took_ = 0;
    std::uint64_t done_ = 0;
};

/// How many steps were done in each interval. Intervals lie on one grid, whatever happens, since a spectrum
/// needs even steps: the work of a piece is spread evenly over the time that it took, and a look counts as
/// work that nothing disturbed.
class FixedTime {
  public:
    FixedTime(double piece, const Nanos& least, Nanos began, const Request& request, Reading& reading)
        : piece_(piece), least_(least), quantum_(request.quantum), until_(began + quantum_),
          most_(request.most), reading_(reading) {}

    void worked(Nanos from, Nanos to) { spread(from, to, piece_); }

    void paused(Nanos from, const Pause& pause) {
        const double pieces =
            static_cast<double>(pause.worked) / static_cast<double>(std::max<Nanos>(least_, 1));
        spread(from, pause.until, piece_ * pieces);
    }

  private:
    void spread(Nanos from, Nanos to, double steps) {
        for (; to >= until_; until_ += quantum_) {
            const double part = steps * static_cast<double>(until_ - from) / static_cast<double>(to - from);
            if (reading_.values.size() < most_)
                reading_.values.push_back(std::llround(steps_ + part));
            else
                ++reading_.left_out;
            steps -= part;
            steps_ = 0.0;
            from = until_;
        }
        steps_ += steps;
    }

    double piece_;
    const Nanos& least_;
    Nanos quantum_;
    Nanos until_;
    std::size_t most_;
    Reading& reading_;
    double steps_ = 0.0;
};

/// Works in pieces until the end, and tells the values of each. A detour is what a piece takes beyond the
/// fastest of them and the threshold.
template <typename Values>
void go_on(std::uint64_t piece, const Request& request, Nanos began, const std::atomic<bool>& stop,
           Nanos& least, Notes& notes, Values& values) {
    const Nanos end = began + request.length;
    for (Nanos before = began; before < end && !stop.load(std::memory_order_relaxed);) {
        work(piece);
        const Nanos now = now_ns();
        const Nanos took = now - before;
        least = std::min(least, took);
        values.worked(before, now);
        if (took - least > request.threshold) {
            const Pause pause = notes.note(before, now, least);
            values.paused(now, pause);
            before = pause.until;
        } else {
            before = now;
        }
    }
}

template <typename T>
void touch(std::vector<T>& values, std::size_t count) {
    values.resize(count);
    values.clear();
}

bool keep_on(int cpu) {
    // The largest set that the kernel knows: CPUs beyond 1024 need more than cpu_set_t has.
    constexpr int most_cpus = 8192;
    if (cpu >= most_cpus) {
        errno = EINVAL;
        return false;
    }
    std::vector<cpu_set_t> set(most_cpus / CPU_SETSIZE);
    const std::size_t size = set.size() * sizeof(cpu_set_t);
    CPU_ZERO_S(size, set.data());
    CPU_SET_S(static_cast<std::size_t>(cpu), size, set.data());
    return ::sched_setaffinity(0, size, set.data()) == 0;
}

} // namespace

Reading measure(const Request& request, int cpu, Start& start, const std::atomic<bool>& stop) {
    Reading reading;
    reading.cpu = cpu;
    if (!keep_on(cpu)) {
        reading.error = std::strerror(errno);
        start.ready();
        return reading;
    }
    // A piece takes as long as the threshold: the clock of the CPU may halve before work is taken for a
    // detour.
    std::uint64_t piece = 0;
    std::uint64_t pieces = 1;
    if (request.method != Method::selfish) {
        const Nanos length = std::min(request.threshold, request.quantum);
        pieces = static_cast<std::uint64_t>(std::max<Nanos>(1, request.quantum / length));
        piece = std::max<std::uint64_t>(1, steps_for(request.quantum) / pieces);
        reading.steps = pieces * piece;
    }
    reading.least = fastest(piece, tries);
    // A page that is touched for the first time would be a detour of our own making.
    const auto intervals = static_cast<std::size_t>(request.length / request.quantum);
    if (request.method != Method::selfish) touch(reading.values, std::min(request.most, intervals + slack));
    touch(reading.detours, std::min(request.most, most_detours));
    reading.worst.reserve(request.worst + 1);
    Notes notes(request, cpu, reading);
    Interrupts all(cpu);
    start.ready();
    static_cast<void>(all.look());
    const Nanos began = notes.begin();
    switch (request.method) {
    case Method::fixed_work: {
        FixedWork values(pieces, request, reading);
        go_on(piece, request, began, stop, reading.least, notes, values);
        break;
    }
    case Method::fixed_time: {
        FixedTime values(static_cast<double>(piece), reading.least, began, request, reading);
        go_on(piece, request, began, stop, reading.least, notes, values);
        break;
    }
    case Method::selfish: {
        Nothing values;
        go_on(piece, request, began, stop, reading.least, notes, values);
        break;
    }
    }
    reading.length = now_ns() - began;
    reading.counted = all.look();
    std::sort(reading.worst.begin(), reading.worst.end(), longer);
    return reading;
}

} // namespace assay::noise
