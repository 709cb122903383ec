#include "kernels/frame/library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>

namespace assay::kernels {

Library::Library(const char* variable, std::initializer_list<const char*> names) {
    const char* own = std::getenv(variable);
    if (own && *own) {
        handle_ = ::dlopen(own, RTLD_NOW | RTLD_LOCAL);
        if (!handle_)
            reason_ = std::string(variable) + " names a library that cannot be loaded: " + ::dlerror();
    } else {
        std::string tried;
        for (const char* name : names) {
            if (handle_) break;
            handle_ = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
            tried += (tried.empty() ? "" : ", ") + std::string(name);
        }
        if (!handle_) reason_ = "library not found: " + tried + " (" + variable + " can name another file)";
    }
    if (!handle_) return;
    link_map* map = nullptr;
    if (::dlinfo(handle_, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name) path_ = map->l_name;
}

void* Library::symbol(const char* name) const {
    return handle_ ? ::dlsym(handle_, name) : nullptr;
}

} // namespace assay::kernels
