// choose: tries to restrict itself to its first CPU, through every ABI that it can call. It prints lines
// "ABI errno", then "cpus" with the number of its CPUs, "bound" with that of a child that tried too, and
// "no_new_privs".
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

int count() {
    cpu_set_t cpus;
    sched_getaffinity(0, sizeof cpus, &cpus);
    return CPU_COUNT(&cpus);
}

void choose(const char* name, long number) {
    cpu_set_t cpus;
    sched_getaffinity(0, sizeof cpus, &cpus);
    cpu_set_t first;
    CPU_ZERO(&first);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&first) == 0; ++cpu) {
        if (CPU_ISSET(cpu, &cpus)) CPU_SET(cpu, &first);
    }
    printf("%s %d\n", name, syscall(number, 0, sizeof first, &first) == 0 ? 0 : errno);
}

#ifdef __x86_64__
sigjmp_buf without;

void leave(int) {
    siglongjmp(without, 1);
}

/// An empty mask: a kernel that carries out the call answers EINVAL.
void choose_i386() {
    signal(SIGSEGV, leave); // this ABI is missing
    if (sigsetjmp(without, 1) != 0) return;
    long result = 241;
    asm volatile("int $0x80" : "+a"(result) : "b"(0), "c"(0), "d"(0) : "memory", "r8", "r9", "r10", "r11");
    printf("i386 %ld\n", -static_cast<long>(static_cast<int>(result)));
}
#endif

} // namespace

int main() {
#ifdef __x86_64__
    choose_i386();
    choose("x32", 0x40000000L | SYS_sched_setaffinity);
#endif
    choose("native", SYS_sched_setaffinity);
    printf("cpus %d\n", count());
    fflush(stdout);
    if (fork() == 0) {
        choose("child", SYS_sched_setaffinity);
        printf("bound %d\n", count());
        fflush(stdout);
        _exit(0);
    }
    wait(nullptr);
    printf("no_new_privs %d\n", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
}
