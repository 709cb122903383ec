#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstring>

// The allocator of glibc under its internal names, used until the next definitions are resolved.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}

namespace assay::tier::preload {

/// Next definitions of the interposed functions.
struct NextSymbols {
    void* (*malloc)(std::size_t) = __libc_malloc;
    void* (*calloc)(std::size_t, std::size_t) = __libc_calloc;
    void* (*realloc)(void*, std::size_t) = __libc_realloc;
    void* (*memalign)(std::size_t, std::size_t) = __libc_memalign;
    void (*free)(void*) = __libc_free;
    std::size_t (*usable)(void*) = nullptr;

    template <class Function>
    static void find(const char* name, Function*& function) {
        // POSIX allows the conversion of dlsym(3)'s result to a function pointer by copying its bytes.
        void* const found = ::dlsym(RTLD_NEXT, name);
        if (found != nullptr) std::memcpy(&function, &found, sizeof found);
    }
    void find_all() {
        find("malloc", malloc);
        find("calloc", calloc);
        find("realloc", realloc);
        find("memalign", memalign);
        find("free", free);
        find("malloc_usable_size", usable);
    }
};

} // namespace assay::tier::preload
