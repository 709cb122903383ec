#include "launcher/meters/huge_pages.hpp"

#include "common/dir.hpp"
#include "common/files.hpp"

#include <fcntl.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

namespace assay {

namespace {

constexpr const char* pools_folder = "/sys/kernel/mm/hugepages";

std::int64_t number_in(const Fd& file) {
    char buffer[32];
    std::int64_t value = 0;
    if (const auto text = reread(file.get(), buffer, sizeof buffer))
        std::from_chars(text->data(), text->data() + text->size(), value);
    return value;
}

/// Return the size in bytes from "hugepages-2048kB", or 0.
std::int64_t page_bytes_of(std::string_view folder) {
    constexpr std::string_view prefix = "hugepages-";
    std::int64_t kib = 0;
    if (!folder.starts_with(prefix)) return 0;
    folder.remove_prefix(prefix.size());
    std::from_chars(folder.data(), folder.data() + folder.size(), kib);
    return kib * 1024;
}

} // namespace

void HugePages::open_pools() {
    pools_.emplace();
    const Dir dir{::opendir(pools_folder)};
    if (!dir) return;
    while (const dirent* entry = ::readdir(dir.get())) {
        const auto bytes = page_bytes_of(entry->d_name);
        if (bytes <= 0) continue;
        const std::string folder = std::string(pools_folder) + '/' + entry->d_name;
        const auto open = [&](const char* file) {
            return Fd{::open((folder + file).c_str(), O_RDONLY | O_CLOEXEC)};
        };
        // Includes surplus pages, which an overcommitted pool creates on demand.
        pools_->push_back({bytes, open("/nr_hugepages"), open("/free_hugepages")});
    }
}

std::int64_t HugePages::in_use() {
    if (!pools_) open_pools();
    std::int64_t bytes = 0;
    for (const auto& pool : *pools_) {
        const auto pages = number_in(pool.pages);
        if (pages > 0) bytes += std::max<std::int64_t>(pages - number_in(pool.free), 0) * pool.page_bytes;
    }
    return bytes;
}

std::int64_t HugePages::held_by(const std::vector<pid_t>& pids) {
    std::int64_t bytes = 0;
    for (const pid_t pid : pids) {
        const auto status = read_file(AT_FDCWD, ("/proc/" + std::to_string(pid) + "/status").c_str());
        const auto kib = status ? number_after(*status, "HugetlbPages") : std::nullopt;
        bytes += kib.value_or(0) * 1024;
    }
    return std::min(bytes, in_use());
}

namespace {

const std::string transparent = "/sys/kernel/mm/transparent_hugepage/";

/// Return the selected word of a file such as "always [madvise] never"; empty if the file does not exist.
std::string selected_word(const std::string& name) {
    const auto text = read_file(AT_FDCWD, (transparent + name).c_str());
    const auto open = text ? text->find('[') : std::string::npos;
    if (open == std::string::npos) return {};
    return text->substr(open + 1, text->find(']') - open - 1);
}

bool is_enabled(const std::string& chosen) {
    return !chosen.empty() && chosen != "never" && chosen != "deny";
}

} // namespace

std::int64_t max_fault_bytes() {
    const std::int64_t page = ::sysconf(_SC_PAGESIZE);
    const std::int64_t huge = read_number(transparent + "hpage_pmd_size").value_or(page);
    const bool inherited = is_enabled(selected_word("enabled"));
    std::int64_t largest = page;
    for (std::int64_t size = 2 * page; size < huge; size *= 2) {
        const auto chosen = selected_word("hugepages-" + std::to_string(size / 1024) + "kB/enabled");
        if (chosen == "inherit" ? inherited : is_enabled(chosen)) largest = size;
    }
    return largest;
}

bool shared_memory_may_be_huge() {
    return is_enabled(selected_word("shmem_enabled"));
}

} // namespace assay
