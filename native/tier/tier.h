/** Regions larger than memory, for programs that ask for them: `libassay-region`.
 *
 * The interface is C, so that any language can call it. Memory of a region is zero at first, and belongs to
 * the process that took it: a child of a fork that touches it ends by SIGSEGV.
 */
#ifndef ASSAY_TIER_H
#define ASSAY_TIER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** DRAM and storage that regions share. */
typedef struct assay_tier assay_tier;

/** What became of touches, and what was transferred; see Counts in meter.hpp. */
typedef struct assay_tier_counts {
    uint64_t first, demand, late, staged, again, wasted, unchanged, read_bytes, written_bytes,
        stall_ns;
} assay_tier_counts;

/** \param paths directories on disks, with commas between them.
 *  \param chunk_bytes what is brought and taken away at once: a power of two, 4096 or more.
 *  \param problem where it fails, what is wrong and what to do, in at most `room` bytes.
 *  \returns null where it fails.
 */
assay_tier* assay_tier_open(const char* paths, uint64_t dram_bytes, uint64_t chunk_bytes, char* problem,
                            size_t room);
/** All its regions go with it; nobody may touch them any more. */
void assay_tier_close(assay_tier* tier);

/** \returns null with errno: ENOMEM; ENOSPC where the paths have no room. */
void* assay_tier_allocate(assay_tier* tier, uint64_t bytes);
void assay_tier_free(assay_tier* tier, void* at);

/** It will be touched soon. */
void assay_tier_expect(assay_tier* tier, void* at, uint64_t bytes);
/** So many rows will, as of a tile: of so many bytes each, and so many from the beginning of one to the next's.
 */
void assay_tier_expect_rows(assay_tier* tier, void* at, uint64_t bytes, uint64_t stride, uint64_t rows);
/** Orders in which memory is gone through: what it shows by itself; upwards; anywhere. */
typedef enum assay_tier_orders { ASSAY_TIER_UNKNOWN, ASSAY_TIER_SEQUENTIAL, ASSAY_TIER_RANDOM } assay_tier_orders;
/** How a region will be gone through from now on; it is told of at least half of it. */
void assay_tier_order(assay_tier* tier, void* at, uint64_t bytes, assay_tier_orders order);
/** It keeps its content, and will not be touched soon: it gives up its DRAM. */
void assay_tier_done(assay_tier* tier, void* at, uint64_t bytes);
/** Its content is not needed any more: it is zero from now on. */
void assay_tier_discard(assay_tier* tier, void* at, uint64_t bytes);

/** Of all regions there are and were. */
void assay_tier_count(assay_tier* tier, assay_tier_counts* counts);

#ifdef __cplusplus
}
#endif

#endif
