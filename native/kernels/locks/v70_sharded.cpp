// build: -O2 -fopenmp
#include "kernels/locks/team.hpp"

namespace assay::kernels {

namespace {

/// Entry i belongs to part i mod 64. A section with several parts takes their locks in ascending order, which
/// prevents a deadlock.
struct Guard {
    static constexpr std::size_t parts = room_bytes / 64;
    static int* word(const Lookups& work, std::size_t part) {
        return reinterpret_cast<int*>(work.room + 64 * part);
    }
    static void take(const Lookups& work, std::uint64_t needed) {
        for (; needed != 0; needed &= needed - 1) {
            const auto part = static_cast<std::size_t>(__builtin_ctzll(needed));
            take_patiently(word(work, part));
        }
    }
    static void release(const Lookups& work, std::uint64_t needed) {
        for (; needed != 0; needed &= needed - 1)
            __atomic_store_n(word(work, static_cast<std::size_t>(__builtin_ctzll(needed))), 0,
                             __ATOMIC_RELEASE);
    }
    static std::uint64_t needed(const Lookups& work, const Section& one) {
        std::uint64_t found = 0;
        for (std::size_t i = 0; i < work.length && ~found != 0; ++i)
            found |= std::uint64_t{1} << ((one.first + i) % work.entries % parts);
        return found;
    }
    static std::int64_t read(const Lookups& work, const Section& one) {
        const std::uint64_t locks = needed(work, one);
        take(work, locks);
        const std::int64_t torn = read_entries(work, one);
        release(work, locks);
        return torn;
    }
    static void write(const Lookups& work, const Section& one) {
        const std::uint64_t locks = needed(work, one);
        take(work, locks);
        change(work, one);
        release(work, locks);
    }
};
static_assert(Guard::parts == 64);

constexpr Variant<Lookups> variant{
    .id = "sharded",
    .parent = "patient-spin",
    .why = "a lock for each of 64 parts of the table: threads in different parts do not wait",
    .run = look_up<Guard>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
