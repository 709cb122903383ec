// memory anon|shared|huge|FILE MIB SECONDS: touch MIB of anonymous or shared memory or of huge pages, or
// write as much to FILE (page cache), and keep it for SECONDS.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    const std::string kind = argv[1];
    const std::size_t mib = std::strtoul(argv[2], nullptr, 10);
    if (kind == "anon" || kind == "shared" || kind == "huge") {
        const int flags = MAP_ANONYMOUS | (kind == "shared" ? MAP_SHARED : MAP_PRIVATE) |
                          (kind == "huge" ? MAP_HUGETLB : 0);
        void* area = mmap(nullptr, mib << 20, PROT_READ | PROT_WRITE, flags, -1, 0);
        if (area == MAP_FAILED) return 3;
        std::memset(area, 1, mib << 20);
    } else {
        static char block[1 << 20];
        FILE* file = std::fopen(kind.c_str(), "w");
        if (file == nullptr) return 3;
        for (std::size_t written = 0; written < mib; ++written)
            if (std::fwrite(block, sizeof block, 1, file) != 1) return 4;
        std::fclose(file);
    }
    usleep(static_cast<useconds_t>(std::strtod(argv[3], nullptr) * 1e6));
}
