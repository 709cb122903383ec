#include "launcher/process/affinity_calls.hpp"

#include "common/raw.hpp"
#include "launcher/process/caller.hpp"

#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace assay {

namespace {

/// System call numbers by ABI; one process may use several ABIs.
struct Abi {
    std::uint32_t architecture; // AUDIT_ARCH_*
    std::uint32_t number;       // of sched_setaffinity
    std::uint32_t mask;         // bits of a number that identify the call
};

constexpr std::uint32_t all_bits = 0xffffffff;
constexpr std::uint32_t x32_bit = 0x40000000; // __X32_SYSCALL_BIT: another ABI under the same architecture

constexpr std::array abis{
    Abi{AUDIT_ARCH_X86_64, 203, all_bits & ~x32_bit},
    Abi{AUDIT_ARCH_I386, 241, all_bits},
    Abi{AUDIT_ARCH_AARCH64, 122, all_bits},
    Abi{AUDIT_ARCH_ARM, 241, all_bits},
};

constexpr std::uint32_t spec_allow = 1U << 2U; // SECCOMP_FILTER_FLAG_SPEC_ALLOW, Linux 4.17

sock_filter statement(int code, std::uint32_t k) {
    return {static_cast<std::uint16_t>(code), 0, 0, k};
}

/// Continue if the accumulator is `k`; otherwise skip that number of statements.
sock_filter skip_unless_equal(std::uint32_t k, std::uint8_t skipped) {
    return {BPF_JMP | BPF_JEQ | BPF_K, 0, skipped, k};
}

} // namespace

std::vector<sock_filter> affinity_filter(AffinityCalls answer) {
    constexpr int load = BPF_LD | BPF_W | BPF_ABS;
    constexpr int keep_bits = BPF_ALU | BPF_AND | BPF_K;
    constexpr int answer_with = BPF_RET | BPF_K;
    const std::uint32_t error = answer == AffinityCalls::ignored ? 0 : EPERM;
    std::vector<sock_filter> filter{statement(load, offsetof(seccomp_data, arch))};
    for (const auto& abi : abis) {
        filter.insert(filter.end(),
                      {skip_unless_equal(abi.architecture, 5), statement(load, offsetof(seccomp_data, nr)),
                       statement(keep_bits, abi.mask), skip_unless_equal(abi.number, 1),
                       statement(answer_with, SECCOMP_RET_ERRNO | error),
                       statement(answer_with, SECCOMP_RET_ALLOW)});
    }
    filter.push_back(statement(answer_with, SECCOMP_RET_ALLOW));
    return filter;
}

long filter_flags() {
    // Before Linux 5.16 a filter also disables speculation of loads, which would slow down the program under
    // measurement. A kernel that knows the flag goes on to read the missing filter (EFAULT).
    return raw::call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, spec_allow, 0) == -EFAULT ? spec_allow : 0;
}

bool filters_without_no_new_privs() {
    // A filter would let a program of another user deceive a set-user-ID program.
    return !acts_for_another_user() && has_cap_sys_admin();
}

} // namespace assay
