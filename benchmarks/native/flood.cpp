// flood MIB: prints MIB mebibytes of text, then "score=1.5".
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>

namespace {

constexpr std::size_t block_bytes = 64 << 10;

bool written(const std::string& text) {
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t n = ::write(STDOUT_FILENO, text.data() + done, text.size() - done);
        if (n < 0) return false;
        done += static_cast<std::size_t>(n);
    }
    return true;
}

} // namespace

int main(int argc, char** argv) {
    const long mebibytes = argc > 1 ? ::atol(argv[1]) : 1;
    std::string block;
    while (block.size() < block_bytes)
        block += "all work and no play makes a dull benchmark of 64 bytes a line.\n";
    for (long n = 0; n < (mebibytes << 20) / static_cast<long>(block_bytes); ++n) {
        if (!written(block)) return 1;
    }
    return written("score=1.5\n") ? 0 : 1;
}
