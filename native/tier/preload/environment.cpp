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

std::size_t number(std::string_view text, std::size_t usual) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? value : usual;
}

std::size_t number_of(const char* name, std::size_t usual) {
    const char* const text = std::getenv(name);
    return text == nullptr ? usual : number(text, usual);
}

Exchange exchange_of(std::string_view how) {
    if (how == "copy") return Exchange::copy;
    if (how == "move") return Exchange::move;
    throw std::runtime_error("ASSAY_TIER_EXCHANGE is " + std::string(how) + ": it is move or copy");
}

std::size_t dram() {
    return number_of("ASSAY_TIER_DRAM", 0);
}

/// How many like this one share what is named, and were not started by one another: instances that assay
/// started, or the ranks of a job on this node as Open MPI and MPICH's Hydra number them.
std::size_t sharers() {
    for (const char* const name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "ASSAY_INSTANCES"})
        if (const std::size_t found = number_of(name, 0); found > 0) return found;
    return 1;
}

} // namespace

How how_from_environment() {
    const char* const how = std::getenv("ASSAY_TIER_HOW");
    if (how != nullptr && std::string_view(how) == "advisor") return How::advisor;
    return std::getenv("ASSAY_TIER_PATH") == nullptr ? How::nobody : How::pager;
}

std::size_t threshold_from_environment(std::size_t usual) {
    return number_of("ASSAY_TIER_THRESHOLD", usual);
}

std::size_t addresses_from_environment() {
    return number_of("ASSAY_TIER_ADDRESSES", Means{}.address_bytes);
}

std::size_t part_from_environment() {
    return dram() / sharers();
}

Budget budget_from_environment() {
    std::optional<Budget> handed = Budget::handed(std::getenv("ASSAY_TIER_BUDGET"), dram());
    return handed ? std::move(*handed) : Budget(part_from_environment(), dram());
}

Means means_from_environment() {
    Means means;
    means.paths = absolute(split_paths(std::getenv("ASSAY_TIER_PATH")));
    means.chunk_bytes = number_of("ASSAY_TIER_CHUNK", means.chunk_bytes);
    means.address_bytes = addresses_from_environment();
    if (std::getenv("ASSAY_TIER_KEEP_FREE") != nullptr)
        means.keep_free = number_of("ASSAY_TIER_KEEP_FREE", std::size_t{1} << 30U);
    if (const char* const folder = std::getenv("ASSAY_TIER_TRACE"); folder != nullptr)
        means.trace_folder = folder;
    if (const char* const folder = std::getenv("ASSAY_TIER_REPLAY"); folder != nullptr)
        means.replay_folder = folder;
    if (const char* const how = std::getenv("ASSAY_TIER_EXCHANGE"); how != nullptr)
        means.exchange = exchange_of(how);
    if (const char* const numa = std::getenv("ASSAY_TIER_NUMA"); numa != nullptr) means.numa = numa_of(numa);
    return means;
}

void hand_on(std::string_view name, std::string_view value) {
    const std::string before = std::string(name) + '=';
    std::size_t count = 0;
    while (environ[count] != nullptr) ++count;
    // The program may keep pointers to both: they are never freed. They are not on its heap, as a check for
    // leaks (LeakSanitizer, Valgrind) would find those that the next variable replaces.
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
