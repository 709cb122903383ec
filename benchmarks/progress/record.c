/* Time of one record, in nanoseconds: 400 at a time, which no limit leaves out, after a pause that restores the
 * limit. */
#include "assay_progress.h"

static double cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? atoi(argv[1]) : 20;
    const struct timespec pause = {0, 500000000};
    int round, step;
    for (round = 0; round < rounds; ++round) {
        const double start = cpu_ns();
        for (step = 0; step < 400; ++step) assay_progress(step, "sps", 310.25 + step);
        printf("%.1f\n", (cpu_ns() - start) / 400);
        nanosleep(&pause, NULL);
    }
    return 0;
}
