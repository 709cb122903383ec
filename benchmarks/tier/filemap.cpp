/// Preload library that maps large blocks of aligned_alloc(3) from an unnamed file in FILEMAP_FOLDER.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <map>

extern "C" void* __libc_memalign(std::size_t, std::size_t);
extern "C" void __libc_free(void*);

namespace {

constexpr std::size_t large = std::size_t{16} << 20U;

std::map<void*, std::size_t>& mapped() {
    static std::map<void*, std::size_t> all;
    return all;
}

} // namespace

extern "C" void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
    const char* const folder = std::getenv("FILEMAP_FOLDER");
    if (bytes < large || folder == nullptr) return __libc_memalign(alignment, bytes);
    const int fd = ::open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0 || ::posix_fallocate(fd, 0, static_cast<off_t>(bytes)) != 0) {
        std::perror(folder);
        std::abort();
    }
    void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ::close(fd);
    if (at == MAP_FAILED) return nullptr;
    mapped()[at] = bytes;
    return at;
}

extern "C" void free(void* at) {
    const auto found = mapped().find(at);
    if (at == nullptr || found == mapped().end()) return __libc_free(at);
    ::munmap(at, found->second);
    mapped().erase(found);
}
