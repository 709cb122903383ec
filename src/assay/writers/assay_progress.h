/* Report the progress of a C or C++ program to assay. Without assay, the calls do nothing.
 *
 *     assay_progress(step, "samples_per_s", rate);
 *
 * In strict mode (-std=c99), include this file first. Threads may call the functions, which never block.
 * docs/reference/progress-records.md defines the records. */
#ifndef ASSAY_PROGRESS_H
#define ASSAY_PROGRESS_H

#if defined(__STRICT_ANSI__) && !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Longest record: limit up to which the kernel writes to a pipe in one piece (PIPE_BUF, pipe(7)). */
#define ASSAY_PROGRESS_BYTES 4096

/* Return whether a descriptor is that of the FIFO: the program may have closed it and opened another file. */
static inline int assay_progress_is_fifo(int fd, const char* identity) {
    struct stat file;
    char* inode;
    const unsigned long long device = strtoull(identity, &inode, 10);
    return fd >= 0 && fstat(fd, &file) == 0 && device == file.st_dev && *inode == ':' &&
           strtoull(inode + 1, NULL, 10) == file.st_ino && (fcntl(fd, F_GETFL) & O_NONBLOCK) != 0;
}

/* Return a descriptor of the FIFO, or -1. */
static inline int assay_progress_fd(const char* identity) {
    static int own = -1;
    const char *number = getenv("ASSAY_PROGRESS_FD"), *path = getenv("ASSAY_PROGRESS_PATH");
    int known = __atomic_load_n(&own, __ATOMIC_ACQUIRE), fd = number ? atoi(number) : -1;
    if (assay_progress_is_fifo(fd, identity)) return fd;
    if (assay_progress_is_fifo(known, identity)) return known;
    fd = path ? open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC) : -1; /* a writer that can read gets no SIGPIPE */
    if (assay_progress_is_fifo(fd, identity) &&
        __atomic_compare_exchange_n(&own, &known, fd, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return fd;
    if (fd >= 0) close(fd);
    return assay_progress_is_fifo(known, identity) ? known : -1; /* the one of another thread */
}

/* Append `, "key": value` to a record. Return the new length; above the limit if the record is full. */
static inline size_t assay_progress_add(char* record, size_t length, const char* key, double value) {
    char number[32], *comma;
    snprintf(number, sizeof number, "%.15g", value);
    if (strchr(number, 'n') != NULL) strcpy(number, "null"); /* JSON has neither NaN nor infinity */
    if ((comma = strchr(number, ',')) != NULL) *comma = '.'; /* decimal comma of the locale */
    if (length + strlen(key) + sizeof number >= ASSAY_PROGRESS_BYTES) return ASSAY_PROGRESS_BYTES;
    return length + (size_t)sprintf(record + length, "%s\"%s\": %s", length > 1 ? ", " : "", key, number);
}

/* Report `count` values. Their names must not contain quotes or backslashes. After 500 records, the function
 * leaves out records of a program that reports more than 200 per second. It returns -1 if a record is too
 * long, otherwise 0.
 */
static inline int assay_progress_values(double step, int count, const char* const* names,
                                        const double* values) {
    static const char* const ranks[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID",
                                        "ASSAY_INSTANCE"};
    static long long due_ns;
    static unsigned long dropped;
    const char *identity = getenv("ASSAY_PROGRESS_INODE"), *rank = NULL;
    char record[ASSAY_PROGRESS_BYTES + 2];
    struct timespec clock;
    long long now_ns, next_ns = __atomic_load_n(&due_ns, __ATOMIC_RELAXED);
    unsigned long lost;
    size_t length = 1;
    int i, fd;
    if (identity == NULL) return 0;
    clock_gettime(CLOCK_MONOTONIC, &clock);
    now_ns = clock.tv_sec * 1000000000LL + clock.tv_nsec;
    if (next_ns < now_ns) next_ns = now_ns;
    if (next_ns - now_ns > 2500000000LL) return 0;
    __atomic_store_n(&due_ns, next_ns + 5000000, __ATOMIC_RELAXED);
    lost = __atomic_exchange_n(&dropped, 0, __ATOMIC_RELAXED);
    record[0] = '{';
    length = assay_progress_add(record, length, "step", step);
    for (i = 0; i < count; ++i) length = assay_progress_add(record, length, names[i], values[i]);
    length = assay_progress_add(record, length, "time_s", (double)now_ns / 1e9);
    for (i = 0; i < 5 && (rank == NULL || *rank < '0' || *rank > '9'); ++i) rank = getenv(ranks[i]);
    if (rank != NULL && *rank >= '0' && *rank <= '9')
        length = assay_progress_add(record, length, "rank", atoi(rank));
    if (lost > 0) length = assay_progress_add(record, length, "dropped", (double)lost);
    fd = length + 2 <= ASSAY_PROGRESS_BYTES ? assay_progress_fd(identity) : -1;
    memcpy(record + length, "}\n", 2);
    if (fd < 0 || write(fd, record, length + 2) < 0) __atomic_add_fetch(&dropped, lost + 1, __ATOMIC_RELAXED);
    return length + 2 <= ASSAY_PROGRESS_BYTES ? 0 : -1;
}

/* Report one value. */
static inline int assay_progress(double step, const char* name, double value) {
    return assay_progress_values(step, 1, &name, &value);
}

#endif
