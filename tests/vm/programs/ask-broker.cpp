// ask-broker SOCKET FILE QUESTION...: send requests to assay-broker over one connection and print its
// answers, one in each line. Then keep the connection open until FILE exists. In a request, PID represents
// the number of this process.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>

int main(int argc, char** argv) {
    if (argc < 4) return 2;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::string(argv[1]).copy(address.sun_path, sizeof address.sun_path - 1);
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return 3;
    for (int i = 3; i < argc; ++i) {
        std::string question = argv[i];
        if (const auto at = question.find("PID"); at != std::string::npos)
            question.replace(at, 3, std::to_string(getpid()));
        std::array<char, 65536> answer;
        if (send(fd, question.data(), question.size(), 0) < 0) return 4;
        const ssize_t got = recv(fd, answer.data(), answer.size(), 0);
        if (got <= 0) return 5;
        std::printf("%.*s\n", static_cast<int>(got), answer.data());
        std::fflush(stdout);
    }
    while (access(argv[2], F_OK) != 0) usleep(10000);
}
