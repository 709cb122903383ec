/** Memory regions larger than DRAM, for programs that request them: `libassay-region`.
 *
 * The interface is C, so that any language can call it. Memory of a region is initially zero. It belongs to
 * the process that allocated it: a child process that accesses it after fork(2) is terminated by SIGSEGV.
 */
#ifndef ASSAY_TIER_H
#define ASSAY_TIER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** DRAM and backing store that a group of regions shares. */
typedef struct assay_tier assay_tier;

/** Counters of page faults and transfers; `Counts` in base/meter.hpp defines each of them. */
typedef struct assay_tier_counts {
    uint64_t zero_fill_faults, demand_faults, in_flight_faults, prefetch_hits, second_chance_hits;
    uint64_t unused_prefetches, clean_evictions, read_bytes, written_bytes, stall_ns;
} assay_tier_counts;

/** Open a tier.
 *
 *  \param paths directories on disks, separated by commas.
 *  \param chunk_bytes unit of fetch and eviction, in bytes: a power of two, at least 4096.
 *  \param problem on failure, receives the cause and the next step, in at most `room` bytes.
 *  \returns null on failure.
 */
assay_tier* assay_tier_open(const char* paths, uint64_t dram_bytes, uint64_t chunk_bytes, char* problem,
                            size_t room);
/** Close a tier and free all its regions. No thread may access them afterwards. */
void assay_tier_close(assay_tier* tier);

/** Allocate a region. \returns null with errno: ENOMEM; ENOSPC if the paths have too little free space. */
void* assay_tier_allocate(assay_tier* tier, uint64_t bytes);
/** Free a region. */
void assay_tier_free(assay_tier* tier, void* at);

/** Prefetch a range that the program is about to access. */
void assay_tier_prefetch(assay_tier* tier, void* at, uint64_t bytes);
/** Prefetch the rows of a tile.
 *
 *  \param bytes length of a row. \param stride distance between the beginnings of two rows, in bytes.
 */
void assay_tier_prefetch_rows(assay_tier* tier, void* at, uint64_t bytes, uint64_t stride, uint64_t rows);
/** Access patterns: detected from page faults (unknown); ascending addresses; random. */
typedef enum assay_tier_pattern {
    ASSAY_TIER_UNKNOWN,
    ASSAY_TIER_SEQUENTIAL,
    ASSAY_TIER_RANDOM
} assay_tier_pattern;
/** Declare the access pattern of a region. Advice on less than half of a region is ignored. */
void assay_tier_advise(assay_tier* tier, void* at, uint64_t bytes, assay_tier_pattern pattern);
/** Evict a range from DRAM. Its content is kept in the backing store. */
void assay_tier_evict(assay_tier* tier, void* at, uint64_t bytes);
/** Discard the content of a range: it reads as zeros afterwards. */
void assay_tier_discard(assay_tier* tier, void* at, uint64_t bytes);

/** Read the counters, summed over all regions of the tier, including freed ones. */
void assay_tier_count(assay_tier* tier, assay_tier_counts* counts);

#ifdef __cplusplus
}
#endif

#endif
