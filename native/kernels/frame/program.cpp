#include "kernels/frame/program.hpp"

#include "common/affinity.hpp"
#include "common/files.hpp"
#include "common/json_writer.hpp"
#include "common/schema.hpp"
#include "kernels/frame/caches.hpp"
#include "kernels/frame/isa.hpp"
#include "kernels/frame/threads.hpp"
#include "kernels/frame/timing.hpp"

#include <unistd.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace assay::kernels {

namespace {

constexpr int wrong = 1;
constexpr int unusable = 2;
constexpr int absent = 3;
constexpr std::size_t max_reported_samples = 200;

struct Request {
    bool describe = false;
    std::string variant;
    std::string size;
    std::int64_t threads = 0; ///< 0: default of OpenMP.
    std::int64_t shift = 0;
    MeasurementLimits limits;
    Values values;
};

std::string usage(const Kernel& kernel) {
    std::string text = "usage: assay-kernel-" + std::string(kernel.about().name) +
                       " --variant ID|all [--size tiny|L2|LLC|DRAM|BYTES] [--threads N]\n"
                       "         [--seconds S] [--samples N] [--shift BYTES]";
    for (const Parameter& one : kernel.parameters()) text += " [--" + one.name + " N]";
    return text + "\n       ... --describe [--size ...] | --version | --help\n";
}

double parse_seconds(const std::string& text) {
    double found = 0.0;
    const char* last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, found);
    constexpr double longest = 3600.0;
    if (error != std::errc{} || end != last || !(found >= 0.0 && found <= longest))
        throw UsageError("invalid value of --seconds: '" + text + "' (a number from 0 to 3600)");
    return found;
}

/// Standard output is closed or full.
class OutputError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

void print(const std::string& text) {
    if (const int error = write_all(STDOUT_FILENO, text))
        throw OutputError(std::string("cannot write to standard output: ") + std::strerror(error));
}

std::int64_t within(const Parameter& one, std::int64_t value) {
    if (value < one.min || value > one.max) {
        const std::string most = one.max == INT64_MAX ? "" : " to " + std::to_string(one.max);
        throw UsageError("--" + one.name + " " + std::to_string(value) + ": " + one.description + ", from " +
                         std::to_string(one.min) + most);
    }
    return value;
}

bool known(const Kernel& kernel, const std::string& name) {
    constexpr std::string_view own[] = {"variant", "size", "seconds", "samples", "threads", "shift"};
    const auto parameters = kernel.parameters();
    return std::ranges::find(own, name) != std::end(own) ||
           std::ranges::find(parameters, name, &Parameter::name) != parameters.end();
}

void take(Request& request, const Kernel& kernel, const std::string& name, const std::string& text) {
    if (name == "variant") {
        if (!request.variant.empty()) throw UsageError("--variant takes one variant, or all");
        request.variant = text;
    } else if (name == "size") {
        if (text.empty()) throw UsageError("empty --size (values: tiny, L2, LLC, DRAM, or bytes as in 64M)");
        request.size = text;
    } else if (name == "seconds") {
        request.limits.total = from_seconds(parse_seconds(text));
    } else if (name == "samples") {
        constexpr std::int64_t most = 1'000'000;
        request.limits.max_samples = static_cast<std::size_t>(
            within({name, "maximum number of samples", 0, 1, most}, parse_number(name, text)));
    } else if (name == "threads") {
        // Twice the number of CPUs, since threads that wait for storage do not use their CPU.
        const auto most = 2 * static_cast<std::int64_t>(own_affinity().size());
        request.threads =
            within({name, "number of threads, at most two for each of the CPUs that this process may use", 0,
                    1, most},
                   parse_number(name, text));
    } else if (name == "shift") {
        request.shift =
            within({name, "bytes beyond the boundary of a cache line", 0, 0, 4096}, parse_number(name, text));
    } else {
        const auto parameters = kernel.parameters();
        request.values[name] =
            within(*std::ranges::find(parameters, name, &Parameter::name), parse_number(name, text));
    }
}

Request read(const Kernel& kernel, int argc, char** argv) {
    Request request;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--describe") {
            request.describe = true;
            continue;
        }
        if (!word.starts_with("--"))
            throw UsageError("invalid option: '" + word + "' (options are --NAME VALUE)");
        if (!known(kernel, word.substr(2))) throw UsageError("unknown option " + word);
        if (i + 1 == argc) throw UsageError(word + " needs a value");
        take(request, kernel, word.substr(2), argv[++i]);
    }
    if (!request.describe && request.variant.empty()) throw UsageError("missing --variant");
    return request;
}

int threads_of(const Request& request) {
#ifdef _OPENMP
    if (request.threads) omp_set_num_threads(static_cast<int>(request.threads));
    return threads();
#else
    if (request.threads > 1) throw UsageError("--threads: this program was built without OpenMP");
    return 1;
#endif
}

/// Return all parameters: specified values, defaults, and a suitable size.
Values settle(const Kernel& kernel, const Request& request, int threads) {
    Values values = request.values;
    bool sized = true;
    for (const Parameter& one : kernel.parameters()) {
        if (!values.contains(one.name)) values[one.name] = one.default_value;
        sized = sized && (one.default_value != 0 || request.values.contains(one.name));
    }
    const Caches caches = find_caches(threads);
    if (!request.size.empty() || !sized) {
        const bool number = !request.size.empty() && request.size[0] >= '0' && request.size[0] <= '9';
        const std::string name = request.size.empty() ? "tiny" : request.size;
        std::int64_t bytes = number ? parse_number("size", name) : 0;
        if (!number && request.size.empty() && caches.first == 0) bytes = 16 << 10;
        Values fitted = values;
        kernel.fit(fitted, bytes || number ? bytes : bytes_of(name, caches));
        for (const auto& [key, value] : request.values) fitted[key] = value;
        values = fitted;
    }
    if (caches.memory > 0 && kernel.bytes(values) > static_cast<double>(caches.memory)) {
        throw UsageError("the data need " +
                         std::to_string(static_cast<std::int64_t>(kernel.bytes(values) / 1048576)) +
                         " MiB, and " + std::to_string(caches.memory >> 20) + " MiB are available");
    }
    return values;
}

void write_values(JsonWriter& json, const Values& values) {
    json.key("parameters").begin_object();
    for (const auto& [name, value] : values) json.member(name, value);
    json.end_object();
}

void write_cost(JsonWriter& json, const Cost& cost) {
    json.member("flops", cost.flops)
        .member("special_functions", cost.special)
        .member("moved_bytes", cost.bytes)
        .member("moved_bytes_with_allocate", cost.bytes_with_allocate);
}

/// Write figures under their names, so that a pattern finds each of them in a line.
void write_figures(JsonWriter& json, const Kernel& kernel) {
    const auto figures = kernel.figures();
    if (figures.empty()) return;
    json.key("figures").begin_object();
    for (const Figure& one : figures) json.member(one.name, one.value);
    json.end_object();
}

void write_identity(JsonWriter& json, Kernel& kernel, std::size_t index, const VariantInfo& variant) {
    json.member("variant", variant.id).member("parent", variant.parent).member("isa", name_of(variant.isa));
    if (const std::string library = kernel.library(index); !library.empty()) json.member("library", library);
}

void describe(Kernel& kernel, const Values& values) {
    const About& about = kernel.about();
    JsonWriter json;
    json.begin_object()
        .member("schema", schema_version)
        .member("kernel", about.name)
        .member("title", about.title)
        .member("source", about.source)
        .member("bound", about.bound)
        .member("single", about.single);
    json.key("options").begin_array();
    for (const Parameter& one : kernel.parameters()) {
        json.begin_object()
            .member("name", one.name)
            .member("description", one.description)
            .member("default", one.default_value)
            .member("minimum", one.min)
            .end_object();
    }
    json.end_array();
    json.key("figures").begin_array();
    for (const Figure& one : kernel.figures())
        json.begin_object().member("name", one.name).member("description", one.description).end_object();
    json.end_array();
    json.key("shapes").begin_array();
    for (const Values& shape : kernel.shapes()) {
        json.begin_object();
        for (const auto& [name, value] : shape) json.member(name, value);
        json.end_object();
    }
    json.end_array();
    write_values(json, values);
    json.member("bytes", kernel.bytes(values));
    json.key("variants").begin_array();
    const auto variants = kernel.variants();
    for (std::size_t i = 0; i < variants.size(); ++i) {
        json.begin_object();
        write_identity(json, kernel, i, variants[i]);
        json.member("description", variants[i].why).member("incorrect", variants[i].broken);
        const std::string missing = kernel.missing(i);
        if (missing.empty())
            write_cost(json, kernel.cost(i));
        else
            json.member("unavailable", missing);
        json.end_object();
    }
    json.end_array().end_object();
    print(json.text() + '\n');
}

int run(Kernel& kernel, std::size_t index, const VariantInfo& variant, const Values& values, int threads,
        const MeasurementLimits& limits) {
    JsonWriter json;
    json.begin_object().member("schema", schema_version).member("kernel", kernel.about().name);
    write_identity(json, kernel, index, variant);
    write_values(json, values);
    json.member("threads", threads).member("bytes", kernel.bytes(values));
    int status = 0;
    if (const std::string missing = kernel.missing(index); !missing.empty()) {
        json.member("status", "unavailable").member("reason", missing);
        status = absent;
    } else {
        const auto samples = time(kernel, index, limits);
        const Verdict verdict = kernel.check();
        const Cost cost = kernel.cost(index);
        std::vector<double> wall, cpu;
        for (const Sample& one : samples) {
            wall.push_back(one.wall_s);
            cpu.push_back(one.cpu_s);
        }
        const double middle = median(wall);
        const double rate = middle > 0 ? 1e-9 / middle : 0.0;
        json.member("status", verdict.right ? "ok" : "rejected").member("error", verdict.worst);
        if (!verdict.right) json.member("reason", verdict.message);
        write_cost(json, cost);
        json.member("median_s", middle)
            .member("best_s", *std::ranges::min_element(wall))
            .member("cpu_s", median(cpu))
            .member("gflop_per_s", cost.flops * rate)
            .member("gb_per_s", cost.bytes * rate)
            .member("samples", static_cast<std::int64_t>(samples.size()));
        if (verdict.right) write_figures(json, kernel);
        wall.resize(std::min(wall.size(), max_reported_samples));
        json.key("samples_s").begin_array();
        for (const double one : wall) json.value(one);
        json.end_array();
        status = verdict.right ? 0 : wrong;
    }
    json.end_object();
    print(json.text() + '\n');
    return status;
}

int run_all(Kernel& kernel, const Values& values, int threads, const MeasurementLimits& limits) {
    const auto variants = kernel.variants();
    int status = 0;
    for (std::size_t i = 0; i < variants.size(); ++i) {
        if (variants[i].broken) continue;
        const int one = run(kernel, i, variants[i], values, threads, limits);
        if (one == wrong) status = one;
    }
    return status;
}

int answer(Kernel& kernel, const Request& request) {
    const int threads = threads_of(request);
    const Values values = settle(kernel, request, threads);
    const auto variants = kernel.variants();
    const auto found = std::ranges::find(variants, request.variant, &VariantInfo::id);
    if (!request.describe && request.variant != "all" && found == variants.end())
        throw UsageError("unknown variant '" + request.variant + "' (--describe lists all)");
    kernel.prepare(values, static_cast<std::size_t>(request.shift));
    if (request.describe) {
        describe(kernel, values);
        return 0;
    }
    if (request.variant == "all") return run_all(kernel, values, threads, request.limits);
    return run(kernel, static_cast<std::size_t>(found - variants.begin()), *found, values, threads,
               request.limits);
}

} // namespace

int program(Kernel& kernel, int argc, char** argv) {
    const std::string_view first = argc > 1 ? argv[1] : "";
    const std::string name = "assay-kernel-" + std::string(kernel.about().name) + ": ";
    try {
        if (first == "--help") {
            print(usage(kernel));
            return 0;
        }
        if (first == "--version") {
            print("assay-kernel " ASSAY_VERSION "\n");
            return 0;
        }
        return answer(kernel, read(kernel, argc, argv));
    } catch (const OutputError& error) {
        static_cast<void>(write_all(STDERR_FILENO, name + error.what() + '\n'));
        return absent;
    } catch (const UsageError& error) {
        static_cast<void>(write_all(STDERR_FILENO, name + error.what() + '\n' + usage(kernel)));
        return unusable;
    } catch (const std::bad_alloc&) {
        static_cast<void>(write_all(STDERR_FILENO, name + "not enough memory for data of this size\n"));
        return absent;
    }
}

} // namespace assay::kernels
