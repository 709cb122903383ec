#pragma once

#include "kernels/gram-schmidt/vectors.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace {

/// The elements of one thread: whole cache lines.
struct Part {
    std::size_t thread = 0, threads = 1, first, end;

    explicit Part(const Base& w) {
#ifdef _OPENMP
        thread = static_cast<std::size_t>(omp_get_thread_num());
        threads = static_cast<std::size_t>(omp_get_num_threads());
#endif
        const std::size_t lines = (w.n + line - 1) / line;
        first = minimum(lines * thread / threads * line, w.n);
        end = minimum(lines * (thread + 1) / threads * line, w.n);
    }
};

/// Process groups with all threads, which wait for each other once in each group, between products and
/// updates.
template <class Way>
void side_by_side(const Base& w) {
#pragma omp parallel
    {
        const Part part(w);
        double* const own = w.own + part.thread * w.room;
        double* const all = own + w.room / 2;
        zero(own, w.vectors);
        zero(all, w.vectors);
        for (std::size_t i = 0; i < w.vectors; i += w.together) {
            const Base some = group_of(w, i);
            form<Way>(some, part.first, part.end, own + i);
#pragma omp barrier
            for (std::size_t t = 0; t < part.threads; ++t)
                for (std::size_t l = i; l < i + some.vectors; ++l) all[l] += w.own[t * w.room + l];
            update<Way>(some, part.first, part.end, all + i, all + i);
        }
        if (part.thread == 0)
            for (std::size_t i = 0; i < w.vectors; ++i) w.sums[i] = all[i];
    }
}

/// Use the modified method, in which all threads wait for each other at each vector.
template <class V>
void one_by_one_side_by_side(const Base& w) {
#pragma omp parallel
    {
        const Part part(w);
        const std::size_t k = part.first, count = part.end - part.first;
        double* const own = w.own + part.thread * w.room;
        zero(own, w.vectors);
        for (std::size_t i = 0; i < w.vectors; ++i) {
            const double* q = w.q + i * w.stride + k;
            const double* d = w.d + i * w.stride + k;
            multiply<V, 1, 8, false>(q, w.stride, w.x + k, count, 0, own + i);
#pragma omp barrier
            double sum = 0.0;
            for (std::size_t t = 0; t < part.threads; ++t) sum += w.own[t * w.room + i];
            subtract<V, 1, false>(q, w.stride, &sum, w.x + k, count, 0);
            subtract<V, 1, false>(d, w.stride, &sum, w.y + k, count, 0);
            if (part.thread == 0) w.sums[i] = sum;
        }
    }
}

} // namespace
