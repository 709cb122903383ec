#pragma once

#include <string>
#include <vector>

namespace assay {

/// A file of the kernel, and what the program is to find in its place.
struct FileOverlay {
    std::string path;
    std::string text;
};

/// What tells how many CPUs a machine has, told of these CPUs alone. Files that the machine lacks are left
/// out.
std::vector<FileOverlay> cpu_view_files(const std::vector<int>& cpus);

/// A mount namespace with such files.
struct CpuView {
    std::vector<FileOverlay> files;
    std::vector<std::string> staging_paths; // where each is made, before it comes to its path
    // Without rights a user namespace goes with it, in which the ids are what they are outside. The kernel
    // gives none to a process that shares its memory.
    bool needs_user_namespace = false;
    std::string uid_map;
    std::string gid_map;
};

CpuView prepare_view(const std::vector<int>& cpus);

/// Puts the caller into it: 0, or -errno. For between clone and exec: system calls alone.
long enter_view(const CpuView& view);

} // namespace assay
