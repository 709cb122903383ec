/// Report the tier's capabilities on this machine: privileges, kernel features, disk speed.
///
///     assay-tier-probe [--path DIR[,DIR...]] [--bytes N] [--order backward]
///
/// Prints one line of JSON. Missing capabilities are part of the report; the exit status is 0 nevertheless.

#include "common/json_writer.hpp"
#include "common/schema.hpp"
#include "tier/advisor/swap_check.hpp"
#include "tier/base/error_text.hpp"
#include "tier/base/paths.hpp"
#include "tier/fault/userfault.hpp"
#include "tier/io/disk.hpp"
#include "tier/preload/environment.hpp"

#include <poll.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <random>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace assay::tier {

namespace {

constexpr unsigned in_flight = 8; ///< Concurrent transfers, as for one stream of the pager.
constexpr std::size_t large = std::size_t{2} << 20, small = 4096;

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Perform transfers. \throws std::system_error if one fails.
void transfer(Disk& disk, const std::vector<std::uint64_t>& positions, bool write, std::byte* memory,
              std::size_t chunk, unsigned depth) {
    std::size_t begun = 0, ended = 0;
    std::vector<unsigned> places;
    for (unsigned i = 0; i < depth; ++i) places.push_back(i);
    while (ended < positions.size()) {
        for (; begun < positions.size() && !places.empty(); ++begun, places.pop_back())
            if (!disk.start({write, positions[begun], memory + places.back() * chunk, chunk, places.back()}))
                break;
        disk.submit();
        pollfd ready{disk.ready(), POLLIN, 0};
        ::poll(&ready, 1, -1);
        Disk::Completed one{};
        while (disk.next(one)) {
            if (one.error != 0)
                throw std::system_error(one.error, std::generic_category(), write ? "writing" : "reading");
            places.push_back(static_cast<unsigned>(one.transfer.tag));
            ++ended;
        }
    }
}

std::vector<std::uint64_t> positions_in(Store& store, std::size_t count, std::size_t chunk) {
    std::size_t first = 0;
    if (const int error = store.reserve(count, first); error != 0)
        throw std::system_error(error, std::generic_category(), "space for the measurement");
    std::vector<std::uint64_t> positions;
    for (std::size_t i = 0; i < count; ++i) positions.push_back((first + i) * chunk);
    return positions;
}

constexpr std::uint64_t min_measured_bytes = std::uint64_t{16} << 20;

struct Options {
    std::string paths;
    std::size_t bytes = std::size_t{256} << 20;
    bool backward = false; ///< Read in descending order.
};

/// Measure the bandwidth of concurrent large transfers, and the latency of single small ones.
void measure(const std::string& path, std::size_t bytes, bool backward, std::byte* memory, JsonWriter& json) {
    {
        Store store({path}, large, bytes / large);
        const auto disk = any_disk(store, in_flight);
        std::vector<std::uint64_t> positions = positions_in(store, bytes / large, large);
        const auto total = static_cast<double>(positions.size() * large);
        auto start = std::chrono::steady_clock::now();
        transfer(*disk, positions, true, memory, large, in_flight);
        json.member("write_bytes_per_s", total / seconds_since(start));
        if (backward) std::ranges::reverse(positions);
        start = std::chrono::steady_clock::now();
        transfer(*disk, positions, false, memory, large, in_flight);
        json.member("read_bytes_per_s", total / seconds_since(start));
    }
    constexpr std::size_t count = 1000;
    Store store({path}, small, bytes / small);
    const auto disk = any_disk(store, 1);
    std::vector<std::uint64_t> positions = positions_in(store, bytes / small, small);
    std::ranges::shuffle(positions, std::mt19937_64(1));
    positions.resize(std::min(count, positions.size()));
    transfer(*disk, positions, true, memory, small, 1);
    const auto start = std::chrono::steady_clock::now();
    transfer(*disk, positions, false, memory, small, 1);
    json.member("latency_s", seconds_since(start) / static_cast<double>(positions.size()));
}

void report_path(const std::string& path, const Options& options, std::byte* memory, JsonWriter& json) {
    json.begin_object().member("path", path);
    std::size_t bytes = options.bytes;
    struct statvfs system = {};
    if (::statvfs(path.c_str(), &system) == 0) {
        const std::uint64_t free = std::uint64_t{system.f_bavail} * system.f_frsize;
        json.member("free_bytes", static_cast<double>(free));
        // On a small file system less is measured, so that it does not fill up.
        bytes = std::min(bytes, std::max(free / 2, min_measured_bytes) / large * large);
    }
    try {
        measure(path, bytes, options.backward, memory, json);
    } catch (const std::exception& error) {
        json.member("problem", error.what());
    }
    json.end_object();
}

void report_kernel(JsonWriter& json) {
    const Userfault::Support support = Userfault::support();
    json.key("userfaultfd").begin_object();
    if (support.error != 0) json.member("problem", std::strerror(support.error));
    json.member("in_kernel", support.in_kernel)
        .member("move", (support.features & UFFD_FEATURE_MOVE) != 0)
        .member("copy", Userfault::can_move_pages())
        .member("poison", (support.features & UFFD_FEATURE_POISON) != 0)
        .end_object();
    json.key("io_uring").begin_object();
    if (const int error = uring_error(); error != 0) json.member("problem", std::strerror(error));
    json.end_object();
}

/// Report whether the pager's address space can be reserved; RLIMIT_AS may prevent it.
void report_addresses(JsonWriter& json) {
    json.key("addresses").begin_object();
    const std::size_t bytes = preload::addresses_from_environment();
    if (std::byte* const area =
            sys::map(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
        area != nullptr)
        sys::unmap(area, bytes);
    else
        json.member("problem", address_space_error(bytes));
    json.end_object();
}

void report_advice(JsonWriter& json) {
    json.key("advice").begin_object();
    try {
        require_swap();
        require_page_out();
        test_page_out();
    } catch (const std::exception& error) {
        json.member("problem", error.what());
    }
    json.end_object();
}

int probe(int argc, char** argv) {
    Options options;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string_view name = argv[i], value = argv[i + 1];
        if (name == "--path") options.paths = value;
        if (name == "--bytes") options.bytes = std::stoul(std::string(value));
        if (name == "--order") options.backward = value == "backward";
    }
    // Huge pages, as in the pager's frames: a transfer to 512 small pages takes about twice as long.
    std::byte* const area = sys::map((in_flight + 1) * large);
    if (area == nullptr) throw std::bad_alloc();
    std::byte* const memory = aligned(area, huge_page);
    sys::size_pages(memory, in_flight * large, large);
    std::fill_n(memory, in_flight * large, std::byte{0});
    JsonWriter json;
    json.begin_object().member("schema", schema_version);
    report_kernel(json);
    report_addresses(json);
    report_advice(json);
    json.key("paths").begin_array();
    for (const std::string& path : split_paths(options.paths)) report_path(path, options, memory, json);
    json.end_array().end_object();
    std::puts(json.text().c_str());
    return 0;
}

} // namespace

} // namespace assay::tier

int main(int argc, char** argv) {
    try {
        return assay::tier::probe(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "assay-tier-probe: %s\n", error.what());
        return 1;
    }
}
