#pragma once

#include <string>
#include <vector>

namespace assay {

/// A kernel file and the text that replaces it for the program.
struct FileOverlay {
    std::string path;
    std::string text;
};

/// Return the files that state the CPUs of a machine, with texts for these CPUs only. Files that the machine
/// lacks are omitted.
std::vector<FileOverlay> cpu_view_files(const std::vector<int>& cpus);

/// Mount namespace in which files are replaced.
struct CpuView {
    std::vector<FileOverlay> files;
    std::vector<std::string> staging_paths; // temporary path of each file before its bind mount
    // Without CAP_SYS_ADMIN it needs a user namespace, in which all ids keep their values. The kernel refuses
    // one to a process that shares its memory.
    bool needs_user_namespace = false;
    std::string uid_map;
    std::string gid_map;
};

CpuView prepare_view(const std::vector<int>& cpus);

/// Move the calling process into the view. Uses system calls only, for the time between clone and exec.
/// Return 0 or -errno.
long enter_view(const CpuView& view);

} // namespace assay
