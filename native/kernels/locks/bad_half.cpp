// build: -O2 -Wno-unknown-pragmas
#include "kernels/locks/team.hpp"

namespace assay::kernels {

namespace {

struct Guard {
    static std::int64_t read(const Lookups& work, const Section& one) { return look(work, one); }
    static void write(const Lookups& work, const Section& one) { ++work.table[one.first].first; }
};

void run(const Lookups& work) {
    look_up<Guard>(work);
}

constexpr Variant<Lookups> broken_half{
    .id = "broken-half",
    .parent = "spin",
    .why = "wrong on purpose: changes half of an entry",
    .isa = Isa::any,
    .broken = true,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(broken_half);

} // namespace assay::kernels
