#include "broker/partition.hpp"
#include "broker/server.hpp"
#include "common/files.hpp"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <string_view>

namespace {

using namespace assay;
using namespace assay::broker;

constexpr int usage_error_status = 2;
constexpr int failure_status = 1;
constexpr std::size_t max_document_bytes = 1U << 20;
constexpr int backlog = 64;

constexpr char usage_text[] =
    "usage: assay-broker PARTITION.json SOCKET   (ends on SIGTERM, with all shares)\n"
    "       assay-broker --version | --help\n";

int print_error(int status, const std::string& text) {
    static_cast<void>(write_all(STDERR_FILENO, "assay-broker: " + text + '\n'));
    return status;
}

/// Listen at `path`, to which every user may connect. Replaces the socket of an earlier broker.
Fd listen_at(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return {};
    }
    path.copy(address.sun_path, path.size());
    Fd socket{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (!socket) return {};
    ::unlink(path.c_str());
    const mode_t before = ::umask(0111); // connect(2) on a socket file requires write permission
    const int bound = ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
    ::umask(before);
    if (bound != 0 || ::listen(socket.get(), backlog) != 0) return {};
    return socket;
}

/// Raise the limit on open descriptors: each connection, removal and move uses one.
void allow_descriptors() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
}

/// Return a descriptor that becomes readable when a signal requests the end.
Fd block_end_signals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, number);
    ::sigprocmask(SIG_BLOCK, &set, nullptr);
    return Fd{::signalfd(-1, &set, SFD_CLOEXEC)};
}

} // namespace

int main(int argc, char** argv) {
    const std::string_view first = argc > 1 ? argv[1] : "";
    if (first == "--help") return write_all(STDOUT_FILENO, usage_text);
    if (first == "--version") return write_all(STDOUT_FILENO, "assay-broker " ASSAY_VERSION "\n");
    if (argc != 3)
        return print_error(usage_error_status,
                           std::string("requires a partition and a socket\n") + usage_text);
    const auto text = read_file(AT_FDCWD, argv[1], max_document_bytes);
    if (!text) return print_error(usage_error_status, std::string(argv[1]) + ": " + std::strerror(errno));
    Partition partition;
    try {
        partition = parse_partition(*text);
    } catch (const PartitionError& error) {
        return print_error(usage_error_status, std::string(argv[1]) + ": " + error.what());
    }
    allow_descriptors();
    Fd ending = block_end_signals();
    remove_leftovers(partition);
    Fd listening = listen_at(argv[2]);
    if (!listening) return print_error(failure_status, std::string(argv[2]) + ": " + std::strerror(errno));
    {
        Server server(partition, std::move(listening), std::move(ending));
        static_cast<void>(write_all(STDOUT_FILENO, "ready\n"));
        server.run();
    }
    ::unlink(argv[2]);
    return 0;
}
