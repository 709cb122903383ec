#include "common/affinity.hpp"
#include "common/files.hpp"
#include "common/json_writer.hpp"
#include "common/schema.hpp"
#include "noise/meter.hpp"
#include "noise/request.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace assay;
using namespace assay::noise;

constexpr int usage_error_status = 2;

// Written by a signal handler.
std::atomic<bool> end_early{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void stop(int) {
    end_early.store(true);
}

int print_error(const std::string& text) {
    static_cast<void>(write_all(STDERR_FILENO, "assay-noise: " + text + '\n'));
    return usage_error_status;
}

const char* name_of(Method method) {
    switch (method) {
    case Method::fixed_work:
        return "fwq";
    case Method::fixed_time:
        return "ftq";
    case Method::selfish:
        break;
    }
    return "selfish";
}

void write_increments(JsonWriter& json, const Interrupts::Increments& increments) {
    json.begin_object();
    for (const auto& [name, count] : increments) json.member(name, count);
    json.end_object();
}

void write_report(JsonWriter& json, const DetourReport& report) {
    json.begin_object()
        .member("start_ns", report.detour.start)
        .member("duration_ns", report.detour.duration)
        .member("counter_window_ns", report.activity.window)
        .member("on_cpu_ns", report.activity.on_cpu)
        .member("run_queue_wait_ns", report.activity.run_queue_wait)
        .member("switches", report.activity.switches)
        .member("cpu", report.activity.cpu)
        .member("interrupt_window_ns", report.interrupt_window)
        .key("interrupts");
    write_increments(json, report.interrupts);
    json.end_object();
}

void write_result(JsonWriter& json, const CpuResult& result) {
    json.begin_object().member("cpu", result.cpu);
    if (!result.error.empty()) {
        json.member("error", result.error).end_object();
        return;
    }
    json.member("length_ns", result.length)
        .member("steps", static_cast<std::int64_t>(result.steps))
        .member("min_ns", result.min_piece)
        .member("analysis_ns", result.read_time)
        .member("dropped", static_cast<std::int64_t>(result.dropped))
        .key("values")
        .begin_array();
    for (const auto value : result.values) json.value(value);
    json.end_array().key("start_ns").begin_array();
    for (const auto& detour : result.detours) json.value(detour.start);
    json.end_array().key("duration_ns").begin_array();
    for (const auto& detour : result.detours) json.value(detour.duration);
    json.end_array().key("interrupts");
    write_increments(json, result.interrupts);
    json.key("worst").begin_array();
    for (const auto& report : result.worst) write_report(json, report);
    json.end_array().end_object();
}

std::string document(const Request& request, const std::vector<CpuResult>& results, bool locked) {
    JsonWriter json;
    json.begin_object()
        .member("schema", schema_version)
        .member("version", ASSAY_VERSION)
        .member("method", name_of(request.method))
        .member("quantum_ns", request.quantum)
        .member("threshold_ns", request.threshold)
        .member("locked", locked)
        .member("stopped_early", end_early.load())
        .key("cpus")
        .begin_array();
    for (const auto& result : results) write_result(json, result);
    json.end_array().end_object();
    return json.text() + '\n';
}

} // namespace

int main(int argc, char** argv) {
    Request request = parse_request(argc, argv);
    if (request.help) return write_all(STDOUT_FILENO, usage_text) != 0;
    if (request.version) return write_all(STDOUT_FILENO, "assay-noise " ASSAY_VERSION "\n") != 0;
    if (!request.error.empty()) return print_error(request.error + '\n' + usage_text);
    if (request.cpus.empty()) request.cpus = own_affinity();
    struct sigaction action{};
    action.sa_handler = stop;
    ::prctl(PR_SET_PDEATHSIG, SIGTERM); // do not keep CPUs busy after the caller has ended
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(number, &action, nullptr);

    std::vector<CpuResult> results(request.cpus.size());
    StartBarrier barrier{static_cast<int>(request.cpus.size())};
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < request.cpus.size(); ++i) {
        threads.emplace_back([&request, &results, &barrier, i] {
            results[i] = measure(request, request.cpus[i], barrier, end_early);
        });
    }
    while (!barrier.all_ready()) ::usleep(100);
    // Allowed within RLIMIT_MEMLOCK. An earlier call would also lock the stacks of later threads, which would
    // need more memory.
    const bool locked = ::mlockall(MCL_CURRENT | MCL_ONFAULT) == 0;
    barrier.release();
    for (auto& thread : threads) thread.join();
    return write_all(STDOUT_FILENO, document(request, results, locked)) == 0 ? 0 : 1;
}
