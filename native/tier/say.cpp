#include "tier/say.hpp"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>

namespace assay::tier {

void say(std::initializer_list<std::string_view> words) {
    std::array<char, 1024> line{};
    std::size_t length = 0;
    const auto append = [&](std::string_view word) {
        const std::size_t fits =
            word.size() < line.size() - 1 - length ? word.size() : line.size() - 1 - length;
        std::memcpy(line.data() + length, word.data(), fits);
        length += fits;
    };
    append("assay tier: ");
    for (const std::string_view word : words) append(word);
    line[length++] = '\n';
    // Nobody is left to be told where this fails.
    if (::write(STDERR_FILENO, line.data(), length) < 0) return;
}

void give_up(std::initializer_list<std::string_view> words) {
    say(words);
    // Not the program's handler: it may touch what is waited for here.
    ::signal(SIGABRT, SIG_DFL);
    std::abort();
}

} // namespace assay::tier
