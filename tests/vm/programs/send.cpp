// send FILE: write a file to QEMU's debug console, an input/output port for bytes. Unlike a serial line, it
// needs no interrupt, driver or settings.
#include <sys/io.h>
#include <unistd.h>

#include <cstdio>

int main(int argc, char** argv) {
    constexpr unsigned short port = 0xe9;
    FILE* file = argc == 2 ? std::fopen(argv[1], "r") : nullptr;
    if (file == nullptr || ioperm(port, 1, 1) != 0) {
        std::perror("send");
        return 1;
    }
    for (int byte; (byte = std::getc(file)) != EOF;) outb(static_cast<unsigned char>(byte), port);
}
