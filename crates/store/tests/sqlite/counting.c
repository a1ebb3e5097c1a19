/* Notes every fsync of a process, and lets them fail when asked. Loaded before the C library. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int noted(long call, int descriptor) {
    struct stat status;
    const char *fails = getenv("FSYNC_FAILS");
    if (fails != NULL && access(fails, F_OK) == 0) {
        errno = EIO;
        return -1;
    }
    int notes = open(getenv("FSYNC_NOTES"), O_WRONLY | O_APPEND | O_CREAT, 0600);
    if (notes < 0 || fstat(descriptor, &status) != 0 || write(notes, S_ISDIR(status.st_mode) ? "d" : "f", 1) != 1) abort();
    close(notes);
    return (int)syscall(call, descriptor);
}

int fsync(int descriptor) { return noted(SYS_fsync, descriptor); }
int fdatasync(int descriptor) { return noted(SYS_fdatasync, descriptor); }
