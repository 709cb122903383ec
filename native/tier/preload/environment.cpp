#include "tier/preload/environment.hpp"

#include "tier/base/paths.hpp"
#include "tier/base/sys.hpp"
#include "tier/numa/placement.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace assay::tier::preload {

namespace {

std::size_t number(std::string_view text, std::size_t default_value) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? value : default_value;
}

std::size_t number_of(const char* name, std::size_t default_value) {
    const char* const text = std::getenv(name);
    return text == nullptr ? default_value : number(text, default_value);
}

MapMethod parse_map_method(std::string_view word) {
    if (word == "copy") return MapMethod::copy;
    if (word == "move") return MapMethod::move;
    throw std::runtime_error("invalid ASSAY_TIER_EXCHANGE: " + std::string(word) + " (use move or copy)");
}

std::size_t dram() {
    return number_of("ASSAY_TIER_DRAM", 0);
}

/// Return the number of sibling processes that share the DRAM: instances started by assay, or ranks on this
/// node as counted by Open MPI and MPICH's Hydra.
std::size_t process_count() {
    for (const char* const name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "ASSAY_INSTANCES"})
        if (const std::size_t found = number_of(name, 0); found > 0) return found;
    return 1;
}

} // namespace

Engine engine_from_environment() {
    const char* const engine = std::getenv("ASSAY_TIER_HOW");
    if (engine != nullptr && std::string_view(engine) == "advisor") return Engine::advisor;
    return std::getenv("ASSAY_TIER_PATH") == nullptr ? Engine::none : Engine::pager;
}

std::size_t threshold_from_environment(std::size_t default_value) {
    return number_of("ASSAY_TIER_THRESHOLD", default_value);
}

std::size_t addresses_from_environment() {
    return number_of("ASSAY_TIER_ADDRESSES", PagerConfig{}.address_bytes);
}

std::size_t share_from_environment() {
    return dram() / process_count();
}

Budget budget_from_environment() {
    std::optional<Budget> inherited = Budget::inherit(std::getenv("ASSAY_TIER_BUDGET"), dram());
    return inherited ? std::move(*inherited) : Budget(share_from_environment(), dram());
}

PagerConfig config_from_environment() {
    PagerConfig config;
    config.paths = absolute(split_paths(std::getenv("ASSAY_TIER_PATH")));
    config.chunk_bytes = number_of("ASSAY_TIER_CHUNK", config.chunk_bytes);
    config.address_bytes = addresses_from_environment();
    if (std::getenv("ASSAY_TIER_KEEP_FREE") != nullptr)
        config.keep_free = number_of("ASSAY_TIER_KEEP_FREE", std::size_t{1} << 30U);
    if (const char* const folder = std::getenv("ASSAY_TIER_TRACE"); folder != nullptr)
        config.trace_folder = folder;
    if (const char* const folder = std::getenv("ASSAY_TIER_REPLAY"); folder != nullptr)
        config.replay_folder = folder;
    if (const char* const method = std::getenv("ASSAY_TIER_EXCHANGE"); method != nullptr)
        config.map_method = parse_map_method(method);
    if (const char* const numa = std::getenv("ASSAY_TIER_NUMA"); numa != nullptr)
        config.numa = parse_numa_policy(numa);
    return config;
}

void export_variable(std::string_view name, std::string_view value) {
    const std::string before = std::string(name) + '=';
    std::size_t count = 0;
    while (environ[count] != nullptr) ++count;
    // Never freed, because the program may keep pointers to both. Not on the heap: leak checkers
    // (LeakSanitizer, Valgrind) would report variables that a later one replaces.
    const std::string whole = before + std::string(value);
    const std::size_t pointers = (count + 2) * sizeof(char*);
    std::byte* const room = sys::map(whole_pages(pointers + whole.size() + 1));
    if (room == nullptr) throw std::bad_alloc();
    auto** const all = reinterpret_cast<char**>(room); // NOLINT: as aligned as a page
    auto* const text = reinterpret_cast<char*>(room + pointers);
    whole.copy(text, whole.size());
    const auto is_other = [&](const char* one) { return !std::string_view(one).starts_with(before); };
    char** end = std::copy_if(environ, environ + count, all, is_other);
    *end++ = text;
    *end = nullptr;
    environ = all;
}

} // namespace assay::tier::preload
