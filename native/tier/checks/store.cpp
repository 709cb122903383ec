/// Whether a store gets room on a path.
///
///     assay-tier-store PATH MIB PATIENCE_MS [FILE]
///
/// Prints 0, or errno. FILE is removed a moment after room was asked for, as what an ended program held is.

#include "tier/store.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>

int main(int argc, char** argv) {
    using namespace assay::tier;
    using std::chrono::milliseconds;
    if (argc < 4) return 2;
    try {
        const std::size_t chunks = std::strtoul(argv[2], nullptr, 10);
        Store store({argv[1]}, std::size_t{1} << 20U, chunks,
                    milliseconds(std::strtoul(argv[3], nullptr, 10)));
        const std::jthread ended([argc, argv] {
            std::this_thread::sleep_for(milliseconds(100));
            if (argc > 4) ::unlink(argv[4]);
        });
        std::size_t first = 0;
        std::printf("%d\n", store.reserve(chunks, first));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
