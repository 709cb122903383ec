// no_userfaultfd ERRNO PROGRAM [WORD...]: runs a program with a system call filter that makes userfaultfd(2)
// fail with ERRNO, as on a kernel without it or in a container that forbids it.

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>

int main(int argc, char** argv) {
    if (argc < 3) return 125;
    const unsigned answer =
        SECCOMP_RET_ERRNO | (static_cast<unsigned>(std::atoi(argv[1])) & SECCOMP_RET_DATA);
    const unsigned number = offsetof(seccomp_data, nr);
    const unsigned userfaultfd_ioc_new = 0xAA00; // linux/userfaultfd.h of Linux 6.1
    // The lower half of the second argument of ioctl(2): the device /dev/userfaultfd also creates
    // descriptors.
    const unsigned request = offsetof(seccomp_data, args) + sizeof(__u64);
    sock_filter lines[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, number),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_userfaultfd, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, request),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, userfaultfd_ioc_new, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, answer),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog filter = {sizeof lines / sizeof *lines, lines};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 125;
    if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) return 125;
    ::execvp(argv[2], argv + 2);
    return 127;
}
