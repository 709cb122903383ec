#pragma once

#include <string>
#include <vector>

namespace assay {

/// A file of the kernel, and what the program is to find in its place.
struct Shown {
    std::string path;
    std::string text;
};

/// What tells how many CPUs a machine has, told of these CPUs alone. Files that the machine lacks are left
/// out.
std::vector<Shown> view_of(const std::vector<int>& cpus);

/// A mount namespace with such files.
struct View {
    std::vector<Shown> files;
    std::vector<std::string> places; // where each is made, before it comes to its path
    // Without rights a user namespace goes with it, in which the ids are what they are outside. The kernel
    // gives none to a process that shares its memory.
    bool alone = false;
    std::string uid_map;
    std::string gid_map;
};

View prepare_view(const std::vector<int>& cpus);

/// Puts the caller into it: 0, or -errno. For between clone and exec: system calls alone.
long enter_view(const View& view);

} // namespace assay
