// crowd children|threads NUMBER: starts NUMBER children or threads without work. It waits for each child
// before it starts the next one. Threads live until all have started.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

namespace {

constexpr std::size_t stack_bytes = 64 << 10;

bool run_children(long number) {
    for (; number > 0; --number) {
        const pid_t child = ::fork();
        if (child == 0) ::_exit(0);
        int status = 0;
        if (child < 0 || ::waitpid(child, &status, 0) != child || status != 0) return false;
    }
    return true;
}

bool run_threads(long number) {
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    pthread_attr_t small;
    ::pthread_attr_init(&small);
    ::pthread_attr_setstacksize(&small, stack_bytes);
    const auto pass = [](void* gate) -> void* {
        ::pthread_mutex_lock(static_cast<pthread_mutex_t*>(gate));
        ::pthread_mutex_unlock(static_cast<pthread_mutex_t*>(gate));
        return nullptr;
    };
    std::vector<pthread_t> threads(static_cast<std::size_t>(number));
    ::pthread_mutex_lock(&gate);
    for (auto& thread : threads) {
        if (::pthread_create(&thread, &small, pass, &gate) != 0) return false;
    }
    ::pthread_mutex_unlock(&gate);
    for (const auto& thread : threads) ::pthread_join(thread, nullptr);
    return true;
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    const long number = ::atol(argv[2]);
    return (::strcmp(argv[1], "threads") == 0 ? run_threads(number) : run_children(number)) ? 0 : 1;
}
