// share SOCKET UID CPUS COMMAND...: as user UID, acquire CPUS of a partition, run COMMAND in them, and
// release them.
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

bool ask(int connection, const std::string& question) {
    char answer[4096] = {};
    if (send(connection, question.data(), question.size(), 0) < 0) return false;
    if (recv(connection, answer, sizeof answer - 1, 0) <= 0) return false;
    return std::strstr(answer, "error") == nullptr || (std::fputs(answer, stderr), false);
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 5) return 2;
    const int user = std::atoi(argv[2]);
    if (setgid(user) != 0 || setuid(user) != 0) return 3;
    const int connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, argv[1], sizeof address.sun_path - 1);
    if (connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return 4;
    const std::string cpus = argv[3];
    if (!ask(connection, R"({"request": "reserve", "cpus": ")" + cpus + "\"}")) return 5;
    if (!ask(connection, R"({"request": "move", "pid": )" + std::to_string(getpid()) + "}")) return 6;
    const pid_t child = fork();
    if (child == 0) {
        execvp(argv[4], argv + 4);
        _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}
