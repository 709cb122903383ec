#pragma once

#include <dirent.h>

#include <memory>

namespace assay {

struct CloseDir {
    void operator()(DIR* dir) const { ::closedir(dir); }
};

/// Owns an open folder.
using Dir = std::unique_ptr<DIR, CloseDir>;

} // namespace assay
