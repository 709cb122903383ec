#pragma once

#include "common/clock.hpp"

#include <sys/syscall.h>
#include <time.h>

/// System calls without libc and errno. A process created with CLONE_VM shares thread-local storage, errno
/// included, with its parent, so code that runs at the same time as the parent uses these calls. They return
/// the kernel's results: -errno on failure.
namespace assay::raw {

#if defined(__x86_64__)

inline long call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0) {
    long result;
    register long r10 asm("r10") = d;
    register long r8 asm("r8") = e;
    asm volatile("syscall"
                 : "=a"(result)
                 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
                 : "rcx", "r11", "memory");
    return result;
}

/// Call clone or clone3 with a child that runs `entry(argument)`, on the new stack if the call provides one.
/// `entry` must not return, because its return address belongs to the parent.
inline long clone_call(long number, long a, long b, long c, long d, long e, void (*entry)(void*),
                       void* argument) {
    long result;
    register long r10 asm("r10") = d;
    register long r8 asm("r8") = e;
    register void (*r12)(void*) asm("r12") = entry;
    register void* r13 asm("r13") = argument;
    asm volatile("syscall\n\t"
                 "testq %%rax, %%rax\n\t"
                 "jnz 1f\n\t"
                 "xorl %%ebp, %%ebp\n\t"
                 "andq $-16, %%rsp\n\t"
                 "movq %%r13, %%rdi\n\t"
                 "callq *%%r12\n\t"
                 "hlt\n"
                 "1:"
                 : "=a"(result)
                 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r12), "r"(r13)
                 : "rcx", "r11", "memory", "cc");
    return result;
}

#elif defined(__aarch64__)

inline long call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0) {
    register long x8 asm("x8") = number;
    register long x0 asm("x0") = a;
    register long x1 asm("x1") = b;
    register long x2 asm("x2") = c;
    register long x3 asm("x3") = d;
    register long x4 asm("x4") = e;
    asm volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
    return x0;
}

inline long clone_call(long number, long a, long b, long c, long d, long e, void (*entry)(void*),
                       void* argument) {
    register long x8 asm("x8") = number;
    register long x0 asm("x0") = a;
    register long x1 asm("x1") = b;
    register long x2 asm("x2") = c;
    register long x3 asm("x3") = d;
    register long x4 asm("x4") = e;
    register void (*x9)(void*) asm("x9") = entry;
    register void* x10 asm("x10") = argument;
    asm volatile("svc 0\n\t"
                 "cbnz x0, 1f\n\t"
                 "mov x29, xzr\n\t"
                 "mov x0, x10\n\t"
                 "blr x9\n\t"
                 "brk 1\n"
                 "1:"
                 : "+r"(x0)
                 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x9), "r"(x10)
                 : "memory", "cc");
    return x0;
}

#else
#error "assay-exec supports x86-64 and arm64"
#endif

inline long as_long(const void* pointer) {
    return reinterpret_cast<long>(pointer);
}

inline bool failed(long result) {
    return result < 0 && result >= -4095;
}

inline Nanos now_ns() {
    timespec t{};
    call(SYS_clock_gettime, CLOCK_MONOTONIC, as_long(&t));
    return to_nanos(t);
}

[[noreturn]] inline void exit(int status) {
    for (;;) call(SYS_exit_group, status);
}

} // namespace assay::raw
