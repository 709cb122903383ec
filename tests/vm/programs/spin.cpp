// spin USER_SECONDS SYSTEM_SECONDS: use the given CPU time of each kind, then print the times that the
// kernel reports.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

static double seconds(timeval rusage::* kind) {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return static_cast<double>((used.*kind).tv_sec) + static_cast<double>((used.*kind).tv_usec) * 1e-6;
}

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    const double user = std::strtod(argv[1], nullptr), system = std::strtod(argv[2], nullptr);
    while (seconds(&rusage::ru_utime) < user)
        for (volatile int i = 0; i < 3'000'000;) i = i + 1;
    static char block[4 << 20];
    const int zero = open("/dev/zero", O_RDONLY);
    while (seconds(&rusage::ru_stime) < system)
        if (read(zero, block, sizeof block) < 0) return 3;
    std::printf("%.6f %.6f\n", seconds(&rusage::ru_utime), seconds(&rusage::ru_stime));
}
