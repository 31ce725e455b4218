/*
 * Emulates a controller for nvme-cli with the contents of files.
 *
 * nvme-cli requires a device node, and sends commands to it with ioctl(). Loaded with LD_PRELOAD, this library
 * intercepts every open of a path that begins with /dev/nvme: the caller gets a descriptor of /dev/null, for which
 * stat() reports the requested node, and Admin commands are answered from the folder in NVME_SHIM_DUMPS:
 *
 *     identify-01.bin         Identify, CNS 01h (CSI 00h)
 *     identify-05-csi02.bin   Identify, CNS 05h of command set 02h
 *     log-02.bin              Get Log Page, LID 02h
 *
 * A request without a file, and every other command, fails with the status that the specification defines for it.
 * No NVMe request reaches the kernel, on any descriptor, so a real drive is never accessed.
 *
 *     gcc -std=c11 -Wall -Wextra -Werror -shared -fPIC -o shim.so shim.c -ldl
 */
#define _GNU_SOURCE
/* Both names of a call are defined below, so headers must not redirect the one with 32-bit offsets to the other. */
#undef _FILE_OFFSET_BITS
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/nvme_ioctl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum {
    IDENTIFY_BYTES = 4096,
    MAX_DESCRIPTORS = 1024,
    /* nvme-cli ignores the major number; 259 is blkext of Linux, as for real namespaces. */
    MAJOR = 259,
};

/* Opcodes of the admin command set (Base 2.1, Figure 142: "Opcodes for Admin Commands"). */
enum { GET_LOG_PAGE = 0x02, IDENTIFY = 0x06 };

/* Results of ioctl() for a failed command: the status field without the Phase Tag, so DNR is bit 14. */
enum {
    DNR = 0x4000,
    INVALID_COMMAND_OPCODE = DNR | 0x001,
    INVALID_FIELD = DNR | 0x002,
    INVALID_NAMESPACE_OR_FORMAT = DNR | 0x00b,
    INVALID_LOG_PAGE = DNR | 0x109,
};

enum node { NOT_OURS, CONTROLLER, NAMESPACE };

/* Emulated node of each descriptor of this process. nvme-cli has one thread, so there is no lock. */
static enum node nodes[MAX_DESCRIPTORS];

/* Returns the next definition of a function, which is that of the C library. */
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* /dev/nvme0 is a controller, /dev/nvme0n1 a namespace; the caller rejects other paths that begin with /dev/nvme. */
static enum node node_of(const char *path)
{
    int controller, nsid, end = 0;

    if (sscanf(path, "/dev/nvme%d%n", &controller, &end) == 1 && path[end] == '\0')
        return CONTROLLER;
    if (sscanf(path, "/dev/nvme%dn%d%n", &controller, &nsid, &end) == 2 && path[end] == '\0')
        return NAMESPACE;
    return NOT_OURS;
}

/* Returns whether a path must not reach the kernel. Not resolved first, since nvme-cli uses its argument unchanged. */
static bool is_nvme_path(const char *path)
{
    return path != NULL && (strncmp(path, "/dev/nvme", 9) == 0 || strncmp(path, "/dev/ng", 7) == 0);
}

static enum node node_of_descriptor(int fd)
{
    return fd >= 0 && fd < MAX_DESCRIPTORS ? nodes[fd] : NOT_OURS;
}

/* Returns a descriptor of /dev/null in place of a device node. */
static int open_node(const char *path)
{
    enum node node = node_of(path);
    int fd;

    if (node == NOT_OURS) {
        errno = ENOENT;
        return -1;
    }
    fd = NEXT(open)("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd >= MAX_DESCRIPTORS) {
        NEXT(close)(fd);
        errno = EMFILE;
        return -1;
    }
    if (fd >= 0)
        nodes[fd] = node;
    return fd;
}

static void stat_node(enum node node, struct stat *status)
{
    memset(status, 0, sizeof(*status));
    status->st_mode = (node == CONTROLLER ? S_IFCHR : S_IFBLK) | 0600;
    status->st_nlink = 1;
    status->st_rdev = makedev(MAJOR, node == CONTROLLER ? 0 : 1);
}

/* ---- answers ---------------------------------------------------------------------------------------------------- */

/* Copies `length` bytes from `offset` on, zero after the end of the file. Returns false if there is no file. */
static bool copy_dump(const char *name, uint64_t offset, void *to, size_t length, uint64_t *file_bytes)
{
    const char *folder = getenv("NVME_SHIM_DUMPS");
    char path[4096];
    FILE *file;
    long end;

    if (folder == NULL || snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
        return false;
    if (is_nvme_path(path))
        return false;
    file = NEXT(fopen)(path, "rb");
    if (file == NULL)
        return false;
    memset(to, 0, length);
    if (fseek(file, 0, SEEK_END) != 0 || (end = ftell(file)) < 0) {
        fclose(file);
        return false;
    }
    *file_bytes = (uint64_t)end;
    if (offset < *file_bytes && fseek(file, (long)offset, SEEK_SET) == 0) {
        size_t got = fread(to, 1, length, file);
        (void)got; /* a short read is the end of the file: the rest stays zero */
    }
    fclose(file);
    return true;
}

static int identify(const struct nvme_passthru_cmd64 *cmd)
{
    uint8_t data[IDENTIFY_BYTES];
    unsigned int cns = cmd->cdw10 & 0xff, csi = cmd->cdw11 >> 24;
    uint64_t file_bytes;
    char name[64];

    if (cmd->data_len < IDENTIFY_BYTES)
        return INVALID_FIELD;
    if (cns == 0x00 && cmd->nsid == 0)
        return INVALID_NAMESPACE_OR_FORMAT;
    if (csi == 0)
        snprintf(name, sizeof(name), "identify-%02x.bin", cns);
    else
        snprintf(name, sizeof(name), "identify-%02x-csi%02x.bin", cns, csi);
    if (!copy_dump(name, 0, data, sizeof(data), &file_bytes))
        return INVALID_FIELD;
    memcpy((void *)(uintptr_t)cmd->addr, data, sizeof(data));
    return 0;
}

static int get_log_page(const struct nvme_passthru_cmd64 *cmd)
{
    /* NUMDL and NUMDU are a 0's based count of dwords, LPOL and LPOU an offset in bytes. */
    uint64_t dwords = ((uint64_t)(cmd->cdw11 & 0xffff) << 16 | cmd->cdw10 >> 16) + 1;
    uint64_t offset = (uint64_t)cmd->cdw13 << 32 | cmd->cdw12;
    bool by_index = cmd->cdw14 >> 23 & 1;
    uint64_t file_bytes;
    int status = 0;
    char name[64];
    void *data;

    if (dwords * 4 > cmd->data_len || by_index || offset % 4 != 0 || offset > INT32_MAX)
        return INVALID_FIELD;
    data = malloc(dwords * 4);
    if (data == NULL)
        return INVALID_FIELD;
    snprintf(name, sizeof(name), "log-%02x.bin", cmd->cdw10 & 0xff);
    if (!copy_dump(name, offset, data, dwords * 4, &file_bytes))
        status = INVALID_LOG_PAGE;
    else if (offset > file_bytes)
        status = INVALID_FIELD;
    else
        memcpy((void *)(uintptr_t)cmd->addr, data, dwords * 4);
    free(data);
    return status;
}

static int admin_command(const struct nvme_passthru_cmd64 *cmd)
{
    switch (cmd->opcode) {
    case IDENTIFY:
        return identify(cmd);
    case GET_LOG_PAGE:
        return get_log_page(cmd);
    default:
        return INVALID_COMMAND_OPCODE;
    }
}

static int node_ioctl(enum node node, unsigned long request, void *argument)
{
    if (request == NVME_IOCTL_ID && node == NAMESPACE)
        return 1; /* the NSID */
    if (request == NVME_IOCTL_ADMIN64_CMD) {
        struct nvme_passthru_cmd64 *cmd = argument;
        cmd->result = 0;
        return admin_command(cmd);
    }
    if (request == NVME_IOCTL_ADMIN_CMD) {
        /* The two structures are the same up to timeout_ms, and differ only in the width of the following result. */
        struct nvme_passthru_cmd *narrow = argument;
        struct nvme_passthru_cmd64 cmd = {0};
        memcpy(&cmd, narrow, offsetof(struct nvme_passthru_cmd, result));
        narrow->result = 0;
        return admin_command(&cmd);
    }
    errno = ENOTTY;
    return -1;
}

/* ---- functions of the C library by which nvme-cli accesses a device ---------------------------------------------- */

int ioctl(int fd, unsigned long request, ...)
{
    enum node node = node_of_descriptor(fd);
    void *argument;
    va_list list;

    va_start(list, request);
    argument = va_arg(list, void *);
    va_end(list);
    if (node != NOT_OURS)
        return node_ioctl(node, request, argument);
    if (_IOC_TYPE(request) == 'N') { /* an NVMe request to a descriptor that was opened elsewhere */
        errno = ENOTTY;
        return -1;
    }
    return NEXT(ioctl)(fd, request, argument);
}

/* open() has a mode only if it may create a file. */
#define MODE_AFTER(last)                                                       \
    __extension__({                                                            \
        mode_t mode = 0;                                                       \
        if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE) {          \
            va_list list;                                                      \
            va_start(list, last);                                              \
            mode = va_arg(list, mode_t);                                       \
            va_end(list);                                                      \
        }                                                                      \
        mode;                                                                  \
    })

int open(const char *path, int flags, ...)
{
    return is_nvme_path(path) ? open_node(path) : NEXT(open)(path, flags, MODE_AFTER(flags));
}

int open64(const char *path, int flags, ...)
{
    return is_nvme_path(path) ? open_node(path) : NEXT(open64)(path, flags, MODE_AFTER(flags));
}

int openat(int folder, const char *path, int flags, ...)
{
    return is_nvme_path(path) ? open_node(path) : NEXT(openat)(folder, path, flags, MODE_AFTER(flags));
}

int openat64(int folder, const char *path, int flags, ...)
{
    return is_nvme_path(path) ? open_node(path) : NEXT(openat64)(folder, path, flags, MODE_AFTER(flags));
}

/* open() of fortified programs. */
int __open_2(const char *path, int flags)
{
    return open(path, flags);
}

int __open64_2(const char *path, int flags)
{
    return open64(path, flags);
}

FILE *fopen(const char *path, const char *mode)
{
    if (!is_nvme_path(path))
        return NEXT(fopen)(path, mode);
    errno = EACCES;
    return NULL;
}

FILE *fopen64(const char *path, const char *mode)
{
    if (!is_nvme_path(path))
        return NEXT(fopen64)(path, mode);
    errno = EACCES;
    return NULL;
}

int close(int fd)
{
    if (node_of_descriptor(fd) != NOT_OURS)
        nodes[fd] = NOT_OURS;
    return NEXT(close)(fd);
}

int fstat(int fd, struct stat *status)
{
    enum node node = node_of_descriptor(fd);

    if (node == NOT_OURS)
        return NEXT(fstat)(fd, status);
    stat_node(node, status);
    return 0;
}

int stat(const char *restrict path, struct stat *restrict status)
{
    if (!is_nvme_path(path))
        return NEXT(stat)(path, status);
    if (node_of(path) == NOT_OURS) {
        errno = ENOENT;
        return -1;
    }
    stat_node(node_of(path), status);
    return 0;
}

/* On a 64-bit machine, the two structures are the same, and the calls differ only in their names. */
_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "struct stat64 is struct stat");

int fstat64(int fd, struct stat64 *status)
{
    return fstat(fd, (struct stat *)status);
}

int stat64(const char *restrict path, struct stat64 *restrict status)
{
    return stat(path, (struct stat *)status);
}
