// SPDX-License-Identifier: Apache-2.0
// Counts a program's calls of the CUDA runtime library, which LibTorch and the plug-in share:
//     cc -shared -fPIC -O1 count_cuda.c -o count_cuda.so
//     QS_CUDA_CALLS=FILE LD_PRELOAD=./count_cuda.so PROGRAM ...
// FILE holds records of 32 bytes, a name of 24 bytes and a number of 8: count_cuda.py reads them. It
// is mapped, so that it is whole however the program ends. Libraries with a runtime of their own
// (cuBLAS, cuDNN) are not counted. Needs no header of CUDA.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum Counter
{
    Launches,
    CopiesToDevice,
    BytesToDevice,
    CopiesToHost,
    BytesToHost,
    CopiesOnDevice,
    Sets,
    StreamWaits,
    DeviceWaits,
    EventWaits,
    HostAllocations,
    DeviceAllocations,
    DeviceBytes,
    PeakDeviceBytes,
    Counters
};

static const char* const kNames[Counters]
    = {"launches",       "copies_to_device", "bytes_to_device", "copies_to_host",     "bytes_to_host",
       "copies_on_device", "sets",           "stream_waits",    "device_waits",       "event_waits",
       "host_allocations", "device_allocations", "device_bytes", "peak_device_bytes"};

struct Record
{
    char name[24];
    uint64_t number;
};

typedef struct
{
    unsigned x, y, z;
} Dim3;

static struct Record s_unseen[Counters];
static struct Record* s_records = s_unseen;

__attribute__((constructor)) static void openRecords(void)
{
    const char* path = getenv("QS_CUDA_CALLS");
    const int file = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644) : -1;
    if (file < 0)
        return;
    if (lseek(file, 0, SEEK_END) == 0 && ftruncate(file, sizeof s_unseen) != 0) {
        close(file);
        return;
    }
    void* mapped = mmap(NULL, sizeof s_unseen, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (mapped == MAP_FAILED)
        return;
    s_records = mapped; // a copy of the process adds to the same numbers
    for (int i = 0; i < Counters; ++i)
        strncpy(s_records[i].name, kNames[i], sizeof s_records[i].name - 1);
}

static uint64_t add(enum Counter counter, uint64_t number)
{
    return __atomic_add_fetch(&s_records[counter].number, number, __ATOMIC_RELAXED);
}

static void* real(const char* name)
{
    return dlsym(RTLD_NEXT, name);
}

#define FORWARD(result, name, parameters, arguments, counting)                                     \
    result name parameters                                                                         \
    {                                                                                              \
        static result(*next) parameters;                                                           \
        if (!next)                                                                                 \
            next = (result(*) parameters)real(#name);                                              \
        if (!next)                                                                                 \
            return 999; /* cudaErrorUnknown */                                                     \
        counting;                                                                                  \
        return next arguments;                                                                     \
    }

FORWARD(int, cudaLaunchKernel,
        (const void* kernel, Dim3 grid, Dim3 block, void** args, size_t shared, void* stream),
        (kernel, grid, block, args, shared, stream), add(Launches, 1))
FORWARD(int, __cudaLaunchKernel,
        (void* kernel, Dim3 grid, Dim3 block, void** args, size_t shared, void* stream),
        (kernel, grid, block, args, shared, stream), add(Launches, 1))
FORWARD(int, cudaLaunchKernelExC, (const void* config, const void* kernel, void** args),
        (config, kernel, args), add(Launches, 1))
FORWARD(int, cudaGraphLaunch, (void* graph, void* stream), (graph, stream), add(Launches, 1))
FORWARD(int, cudaMemsetAsync, (void* at, int value, size_t bytes, void* stream),
        (at, value, bytes, stream), add(Sets, 1))
FORWARD(int, cudaStreamSynchronize, (void* stream), (stream), add(StreamWaits, 1))
FORWARD(int, cudaDeviceSynchronize, (void), (), add(DeviceWaits, 1))
FORWARD(int, cudaEventSynchronize, (void* event), (event), add(EventWaits, 1))
FORWARD(int, cudaHostAlloc, (void** at, size_t bytes, unsigned flags), (at, bytes, flags),
        add(HostAllocations, 1))

static void countCopy(size_t bytes, int kind)
{
    enum Kind
    {
        ToDevice = 1,
        ToHost = 2,
        OnDevice = 3
    };
    if (kind == ToDevice) {
        add(CopiesToDevice, 1);
        add(BytesToDevice, bytes);
    } else if (kind == ToHost) {
        add(CopiesToHost, 1);
        add(BytesToHost, bytes);
    } else if (kind == OnDevice) {
        add(CopiesOnDevice, 1);
    }
}

FORWARD(int, cudaMemcpyAsync, (void* to, const void* from, size_t bytes, int kind, void* stream),
        (to, from, bytes, kind, stream), countCopy(bytes, kind))
FORWARD(int, cudaMemcpy, (void* to, const void* from, size_t bytes, int kind),
        (to, from, bytes, kind), countCopy(bytes, kind))

/// Allocations that are not freed yet, by place; LibTorch keeps large blocks, so there are few.
static struct
{
    void* at;
    size_t bytes;
} s_blocks[1 << 16];
static pthread_mutex_t s_lock = PTHREAD_MUTEX_INITIALIZER;

static void keep(void* at, size_t bytes)
{
    pthread_mutex_lock(&s_lock);
    for (size_t i = 0; i < sizeof s_blocks / sizeof s_blocks[0]; ++i) {
        if (s_blocks[i].at)
            continue;
        s_blocks[i].at = at;
        s_blocks[i].bytes = bytes;
        const uint64_t now = add(DeviceBytes, bytes);
        if (now > s_records[PeakDeviceBytes].number)
            s_records[PeakDeviceBytes].number = now;
        break;
    }
    pthread_mutex_unlock(&s_lock);
}

static void forget(void* at)
{
    pthread_mutex_lock(&s_lock);
    for (size_t i = 0; at && i < sizeof s_blocks / sizeof s_blocks[0]; ++i) {
        if (s_blocks[i].at != at)
            continue;
        add(DeviceBytes, -(uint64_t)s_blocks[i].bytes);
        s_blocks[i].at = NULL;
        break;
    }
    pthread_mutex_unlock(&s_lock);
}

int cudaMalloc(void** at, size_t bytes)
{
    static int (*next)(void**, size_t);
    if (!next)
        next = (int (*)(void**, size_t))real("cudaMalloc");
    const int status = next ? next(at, bytes) : 999;
    if (status == 0) {
        add(DeviceAllocations, 1);
        keep(*at, bytes);
    }
    return status;
}

int cudaFree(void* at)
{
    static int (*next)(void*);
    if (!next)
        next = (int (*)(void*))real("cudaFree");
    forget(at);
    return next ? next(at) : 999;
}
