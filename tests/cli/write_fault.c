/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded: once FAULT_AFTER bytes were written into files, writing fails with the error FAULT_ERRNO. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long written;

static int refused(int handle, size_t size)
{
    struct stat about;
    const char* number = getenv("FAULT_ERRNO");
    const char* after = getenv("FAULT_AFTER");
    if (!number || !after || fstat(handle, &about) != 0 || !S_ISREG(about.st_mode))
        return 0;
    if (atomic_fetch_add(&written, (long)size) + (long)size <= atol(after))
        return 0;
    errno = atoi(number);
    return 1;
}

ssize_t write(int handle, const void* data, size_t size)
{
    static ssize_t (*next)(int, const void*, size_t);
    if (!next)
        next = (ssize_t(*)(int, const void*, size_t))dlsym(RTLD_NEXT, "write");
    return refused(handle, size) ? -1 : next(handle, data, size);
}

ssize_t writev(int handle, const struct iovec* parts, int count)
{
    static ssize_t (*next)(int, const struct iovec*, int);
    size_t size = 0;
    if (!next)
        next = (ssize_t(*)(int, const struct iovec*, int))dlsym(RTLD_NEXT, "writev");
    for (int i = 0; i < count; ++i)
        size += parts[i].iov_len;
    return refused(handle, size) ? -1 : next(handle, parts, count);
}
