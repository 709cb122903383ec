// scaling [VALUE ENABLED RUNNING]...: prints the launcher's scaling factor for the readings of one event.
#include "../../../native/launcher/meters/counter_scaling.hpp"

#include <stdio.h>
#include <stdlib.h>

#include <vector>

int main(int argc, char** argv) {
    std::vector<assay::PerfReading> readings;
    const auto number = [&](int i) { return strtoull(argv[i], nullptr, 10); };
    for (int i = 1; i + 2 < argc; i += 3) readings.push_back({number(i), number(i + 1), number(i + 2)});
    printf("%.9g\n", assay::scale_of(readings));
}
