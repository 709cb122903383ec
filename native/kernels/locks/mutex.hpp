#pragma once

#include "kernels/locks/team.hpp"

#include <pthread.h>

namespace {

struct Mutex {
    /// All zero is PTHREAD_MUTEX_INITIALIZER of glibc and musl.
    static pthread_mutex_t* lock(const Lookups& work) {
        return reinterpret_cast<pthread_mutex_t*>(work.room);
    }
    static void take(const Lookups& work) { pthread_mutex_lock(lock(work)); }
    static void release(const Lookups& work) { pthread_mutex_unlock(lock(work)); }
};

} // namespace
