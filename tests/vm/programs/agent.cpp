// agent DEVICE: answer requests on a serial line, one in each line: a verb and words, separated by blanks.
// The answer is "ok TEXT" or "no ERRNO". For their meaning see guest_host.py and alive.py.
#include <fcntl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <system_error>
#include <vector>

using Words = std::vector<std::string>;

namespace {

[[noreturn]] void fail(int error = errno) {
    throw std::system_error(error, std::generic_category());
}

int checked(int result) {
    if (result < 0) fail();
    return result;
}

struct Fd {
    int number;
    explicit Fd(int opened) : number(checked(opened)) {}
    Fd(const Fd&) = delete;
    Fd& operator=(const Fd&) = delete;
    ~Fd() { close(number); }
};

/// Like assay.host.host.LiveHost, follow no symbolic links.
int open_plain(const std::string& path, int flags) {
    open_how how{};
    how.flags = static_cast<unsigned long long>(flags | O_CLOEXEC | O_NONBLOCK);
    how.resolve = RESOLVE_NO_SYMLINKS;
    return static_cast<int>(syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how));
}

std::string everything(int fd) {
    std::string text;
    std::array<char, 65536> block;
    ssize_t got = 0;
    while ((got = read(fd, block.data(), block.size())) > 0)
        text.append(block.data(), static_cast<std::size_t>(got));
    if (got < 0) fail();
    return text;
}

std::string affinity(const Words& words) {
    cpu_set_t set;
    checked(sched_getaffinity(std::atoi(words.at(1).c_str()), sizeof set, &set));
    std::string text;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &set)) text += (text.empty() ? "" : ",") + std::to_string(cpu);
    return text;
}

std::string place(const Words& words) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (std::size_t i = 2; i < words.size(); ++i) CPU_SET(std::atoi(words[i].c_str()), &set);
    checked(sched_setaffinity(std::atoi(words.at(1).c_str()), sizeof set, &set));
    return {};
}

std::string names(const Words& words) {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(words.at(1)))
        found.push_back(entry.path().filename());
    std::sort(found.begin(), found.end());
    std::string text;
    for (const auto& name : found) text += name + '\n';
    return text;
}

std::string overwrite(const Words& words) {
    const Fd file(open_plain(words.at(1), O_WRONLY));
    const std::string& text = words.at(2);
    const ssize_t written = write(file.number, text.data(), text.size());
    if (written < 0) fail();
    if (static_cast<std::size_t>(written) != text.size()) fail(EIO);
    return {};
}

/// Run a command in a shell. Return its status as of wait(2), and its output.
std::string run(const Words& words) {
    int ends[2];
    checked(pipe2(ends, O_CLOEXEC));
    const pid_t child = checked(fork());
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        execl("/bin/sh", "sh", "-c", words.at(1).c_str(), nullptr);
        _exit(127);
    }
    close(ends[1]);
    const Fd output(ends[0]);
    const std::string text = everything(output.number);
    int status = 0;
    checked(waitpid(child, &status, 0));
    return std::to_string(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)) + '\n' + text;
}

std::string hold(const Words& words) {
    const int fd = checked(open_plain(words.at(1), O_RDWR));
    const int value = std::atoi(words.at(2).c_str());
    if (write(fd, &value, sizeof value) != sizeof value) {
        const int error = errno;
        close(fd);
        fail(error);
    }
    return std::to_string(fd);
}

std::string held(const Words& words) {
    int value = 0;
    if (pread(std::atoi(words.at(1).c_str()), &value, sizeof value, 0) != sizeof value) fail(EIO);
    return std::to_string(value);
}

/// A connection that transmits packets, such as one to assay-broker.
std::string dial(const Words& words) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    words.at(1).copy(address.sun_path, sizeof address.sun_path - 1);
    const int fd = checked(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
        const int error = errno;
        close(fd);
        fail(error);
    }
    return std::to_string(fd);
}

std::string ask(const Words& words) {
    const int fd = std::atoi(words.at(1).c_str());
    checked(static_cast<int>(send(fd, words.at(2).data(), words.at(2).size(), MSG_NOSIGNAL)));
    std::string answer(1 << 18, '\0');
    const ssize_t got = recv(fd, answer.data(), answer.size(), 0);
    if (got < 0) fail();
    answer.resize(static_cast<std::size_t>(got));
    return answer;
}

std::string swap(const Words& words) {
    const int priority = std::atoi(words.at(2).c_str());
    checked(swapon(words.at(1).c_str(), priority < 0 ? 0 : SWAP_FLAG_PREFER | priority));
    return {};
}

std::string nothing(int result) {
    checked(result);
    return {};
}

const std::map<std::string, std::function<std::string(const Words&)>> verbs{
    {"read", [](const Words& w) { return everything(Fd(open_plain(w.at(1), O_RDONLY)).number); }},
    {"write", overwrite},
    {"list", names},
    {"mkdir", [](const Words& w) { return nothing(mkdir(w.at(1).c_str(), 0755)); }},
    {"rmdir", [](const Words& w) { return nothing(rmdir(w.at(1).c_str())); }},
    {"affinity", affinity},
    {"place", place},
    {"hold", hold},
    {"held", held},
    {"close", [](const Words& w) { return nothing(close(std::atoi(w.at(1).c_str()))); }},
    {"swap", swap},
    {"unswap", [](const Words& w) { return nothing(swapoff(w.at(1).c_str())); }},
    {"run", run},
    {"dial", dial},
    {"ask", ask},
};

/// Decode a word. Bytes other than printable ASCII, and '%', are encoded in hexadecimal, as in "%20".
std::string plain(const std::string& text) {
    std::string found;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool escaped = text[i] == '%' && i + 2 < text.size();
        found += escaped ? static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16)) : text[i];
        if (escaped) i += 2;
    }
    return found;
}

std::string coded(const std::string& text) {
    constexpr char digits[] = "0123456789ABCDEF";
    std::string found;
    for (const unsigned char byte : text) {
        if (byte > ' ' && byte < 127 && byte != '%') {
            found += static_cast<char>(byte);
            continue;
        }
        found += '%';
        found += digits[byte >> 4];
        found += digits[byte & 15];
    }
    return found;
}

std::string answer(const std::string& line) {
    Words words;
    for (std::size_t at = 0; at <= line.size();) {
        const auto end = std::min(line.find(' ', at), line.size());
        words.push_back(words.empty() ? line.substr(at, end - at) : plain(line.substr(at, end - at)));
        at = end + 1;
    }
    try {
        return "ok " + coded(verbs.at(words.at(0))(words));
    } catch (const std::system_error& error) {
        return "no " + std::to_string(error.code().value());
    } catch (const std::out_of_range&) {
        return "no " + std::to_string(ENOSYS);
    }
}

} // namespace

int main(int argc, char** argv) {
    const int line = argc == 2 ? open(argv[1], O_RDWR | O_NOCTTY | O_CLOEXEC) : -1;
    termios raw{};
    if (line < 0 || tcgetattr(line, &raw) != 0) return 1;
    cfmakeraw(&raw);
    cfsetspeed(&raw, B115200);
    tcsetattr(line, TCSANOW, &raw);
    const auto say = [line](std::string text) {
        text += '\n';
        for (std::size_t sent = 0; sent < text.size();) {
            const ssize_t more = write(line, text.data() + sent, text.size() - sent);
            if (more <= 0) return;
            sent += static_cast<std::size_t>(more);
        }
    };
    say("ready");
    std::string question;
    for (char byte = 0; read(line, &byte, 1) == 1;) {
        if (byte != '\n') {
            question += byte;
            continue;
        }
        if (question == "end") return 0;
        say(answer(question));
        question.clear();
    }
}
