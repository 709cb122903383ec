/// Reserve space in a store.
///
///     assay-tier-store PATH MIB PATIENCE_MS KEEP_MIB [FILE]
///
/// Prints 0 or errno, and the minimum free space meanwhile, in MiB. KEEP_MIB `-` selects the default. FILE is
/// removed shortly after the request, like the files of an ended program.

#include "tier/io/store.hpp"

#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <stop_token>
#include <string_view>
#include <thread>

namespace {

std::uint64_t free_mib(const char* path) {
    struct statvfs found{};
    return ::statvfs(path, &found) == 0 ? found.f_bavail * found.f_frsize >> 20U : 0;
}

} // namespace

int main(int argc, char** argv) {
    using namespace assay::tier;
    using std::chrono::milliseconds;
    if (argc < 5) return 2;
    try {
        const std::size_t chunks = std::strtoul(argv[2], nullptr, 10);
        std::optional<std::uint64_t> keep;
        if (std::string_view(argv[4]) != "-") keep = std::strtoul(argv[4], nullptr, 10) << 20U;
        Store store({argv[1]}, std::size_t{1} << 20U, std::max(chunks, std::size_t{1} << 20U), keep,
                    milliseconds(std::strtoul(argv[3], nullptr, 10)));
        const std::jthread ended([argc, argv] {
            std::this_thread::sleep_for(milliseconds(100));
            if (argc > 5) ::unlink(argv[5]);
        });
        std::uint64_t min = free_mib(argv[1]);
        std::jthread observer([&min, argv](const std::stop_token& over) {
            for (; !over.stop_requested(); std::this_thread::yield()) min = std::min(min, free_mib(argv[1]));
        });
        std::size_t first = 0;
        const int error = store.reserve(chunks, first);
        observer.request_stop();
        observer.join();
        std::printf("%d %lu\n", error, min);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
