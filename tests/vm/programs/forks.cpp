// forks COUNT SECONDS: run COUNT children at once for SECONDS, print how many could be started, and end them.
// The exit status is 1 if one could not be started.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    const std::size_t count = std::strtoul(argv[1], nullptr, 10);
    std::vector<pid_t> children;
    while (children.size() < count) {
        const pid_t child = fork();
        if (child == 0)
            for (;;) pause();
        if (child < 0) break;
        children.push_back(child);
    }
    std::printf("%zu\n", children.size());
    std::fflush(stdout);
    usleep(static_cast<useconds_t>(std::strtod(argv[2], nullptr) * 1e6));
    for (const pid_t child : children) kill(child, SIGKILL);
    while (wait(nullptr) > 0) {
    }
    return children.size() == count ? 0 : 1;
}
