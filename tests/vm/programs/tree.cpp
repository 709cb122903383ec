// tree PATTERNS FILE: copy the files that match patterns (glob(7), one in each line) to FILE, each as
// "PATH\n", its length in decimal and "\n", and its content. A pattern that ends in a slash tests for
// existence: "PATH/\n0\n". Unreadable files are skipped.
#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <optional>
#include <set>
#include <string>

static std::optional<std::string> content(const std::string& path) {
    const int fd = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat kind{};
    std::string text;
    std::array<char, 65536> block;
    ssize_t got = -1;
    if (fd >= 0 && fstat(fd, &kind) == 0 && S_ISREG(kind.st_mode))
        while ((got = read(fd, block.data(), block.size())) > 0)
            text.append(block.data(), static_cast<std::size_t>(got));
    if (fd >= 0) close(fd);
    return got < 0 ? std::nullopt : std::optional(text);
}

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    std::ifstream patterns(argv[1]);
    std::ofstream out(argv[2], std::ios::binary);
    std::set<std::string> seen;
    for (std::string pattern; std::getline(patterns, pattern);) {
        glob_t found{};
        if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
            for (std::size_t i = 0; i < found.gl_pathc; ++i) {
                const std::string path = found.gl_pathv[i];
                if (!seen.insert(path).second) continue;
                if (path.ends_with('/'))
                    out << path << "\n0\n";
                else if (const auto text = content(path))
                    out << path << '\n' << text->size() << '\n' << *text;
            }
        }
        globfree(&found);
    }
}
