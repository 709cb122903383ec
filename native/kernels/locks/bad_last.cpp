// build: -O2 -Wno-unknown-pragmas
#include "kernels/locks/team.hpp"

namespace assay::kernels {

namespace {

struct Guard {
    static std::int64_t read(const Lookups& work, const Section& one) { return read_entries(work, one); }
    static void write(const Lookups& work, const Section& one) { change(work, one); }
};

void run(const Lookups& work) {
    Lookups shorter = work;
    if (shorter.n > 0) --shorter.n;
    look_up<Guard>(shorter);
}

constexpr Variant<Lookups> variant{
    .id = "broken-last",
    .parent = "spin",
    .why = "wrong on purpose: leaves out the last section",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
