// build: -O2 -Wno-unknown-pragmas
#include "kernels/locks/team.hpp"

namespace assay::kernels {

namespace {

struct Guard {
    static std::int64_t read(const Lookups& work, const Section& one) { return read_entries(work, one); }
    static void write(const Lookups& work, const Section& one) { ++work.table[one.first].first; }
};

void run(const Lookups& work) {
    look_up<Guard>(work);
}

constexpr Variant<Lookups> variant{
    .id = "broken-half",
    .parent = "spin",
    .why = "wrong on purpose: changes half of an entry",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
