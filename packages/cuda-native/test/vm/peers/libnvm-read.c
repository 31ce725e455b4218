// Random reads with libnvm (ssd-gpu-dma), as in its examples: BAR 0 through sysfs, physical addresses from the page
// map, and one polled queue pair. Prints a line of JSON with the measurements of peer-window.ts.
//
//   libnvm-read <bdf> <counters' bdf> <bytes of a read> <reads in flight> <bytes of the span> <warm-up ms> <window ms>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <nvm_admin.h>
#include <nvm_aq.h>
#include <nvm_cmd.h>
#include <nvm_ctrl.h>
#include <nvm_dma.h>
#include <nvm_error.h>
#include <nvm_queue.h>

enum { PAGE = 4096, HUGE_PAGE = 2 << 20, MAX_COMMANDS = 63, COUNTERS = 32 };

static void die(const char *what)
{
    fprintf(stderr, "libnvm-read: %s\n", what);
    exit(1);
}

static void check(int status, const char *what)
{
    if (nvm_ok(status)) return;
    fprintf(stderr, "libnvm-read: %s: %s\n", what, nvm_strerror(status));
    exit(1);
}

static void *map_resource(const char *bdf, int bar, size_t bytes)
{
    char path[128];
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/resource%d", bdf, bar);
    int file = open(path, O_RDWR);
    if (file < 0) die(path);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) die(path);
    return memory;
}

/* Allocates DMA memory in huge pages, which are physically contiguous. */
static nvm_dma_t *allocate(const nvm_ctrl_t *ctrl, size_t bytes)
{
    size_t length = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE, pages = length / PAGE;
    char *memory = mmap(NULL, length, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) die("no huge pages");
    memset(memory, 0, length);
    uint64_t *addresses = calloc(pages, sizeof *addresses);
    int pagemap = open("/proc/self/pagemap", O_RDONLY);
    off_t at = (off_t)((uintptr_t)memory / PAGE * sizeof *addresses);
    if (pread(pagemap, addresses, pages * sizeof *addresses, at) != (ssize_t)(pages * sizeof *addresses)) die("pagemap");
    close(pagemap);
    for (size_t page = 0; page < pages; page++) addresses[page] = (addresses[page] & ((1ull << 55) - 1)) * PAGE;
    nvm_dma_t *mapped;
    check(nvm_dma_map(&mapped, ctrl, memory, PAGE, pages, addresses), "nvm_dma_map");
    free(addresses);
    return mapped;
}

static double now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

struct instant {
    double ms, user_us, system_us;
    uint64_t user, kernel;
};

static struct instant instant_of(const volatile uint64_t *counters)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    struct instant now = { .ms = now_ms() };
    now.user_us = usage.ru_utime.tv_sec * 1e6 + usage.ru_utime.tv_usec;
    now.system_us = usage.ru_stime.tv_sec * 1e6 + usage.ru_stime.tv_usec;
    for (int index = 0; index < COUNTERS; index += 2) now.user += counters[index], now.kernel += counters[index + 1];
    return now;
}

int main(int argc, char **argv)
{
    if (argc != 8) die("expected 7 arguments");
    size_t read_bytes = strtoul(argv[3], NULL, 0), depth = strtoul(argv[4], NULL, 0), span = strtoul(argv[5], NULL, 0);
    double warm_up_ms = atof(argv[6]), window_ms = atof(argv[7]);
    const volatile uint64_t *counters = map_resource(argv[2], 2, PAGE);

    nvm_ctrl_t *ctrl;
    check(nvm_raw_ctrl_init(&ctrl, map_resource(argv[1], 0, NVM_CTRL_MEM_MINSIZE), NVM_CTRL_MEM_MINSIZE), "BAR 0");
    nvm_dma_t *admin_memory = allocate(ctrl, 3 * PAGE);
    nvm_aq_ref admin;
    check(nvm_aq_create(&admin, ctrl, admin_memory), "reset");
    void *page = (char *)admin_memory->vaddr + 2 * PAGE;
    struct nvm_ctrl_info controller;
    struct nvm_ns_info ns;
    check(nvm_admin_ctrl_info(admin, &controller, page, admin_memory->ioaddrs[2]), "Identify Controller");
    check(nvm_admin_ns_info(admin, &ns, 1, page, admin_memory->ioaddrs[2]), "Identify Namespace");

    check(nvm_admin_set_num_queues(admin, 1, 1), "Number of Queues");
    // Completion queue, submission queue, and a PRP list page for each command.
    nvm_dma_t *queues = allocate(ctrl, (2 + MAX_COMMANDS) * PAGE);
    char *queue_memory = queues->vaddr;
    nvm_queue_t cq, sq;
    check(nvm_admin_cq_create(admin, &cq, 1, queue_memory, queues->ioaddrs[0]), "completion queue");
    check(nvm_admin_sq_create(admin, &sq, &cq, 1, queue_memory + PAGE, queues->ioaddrs[1]), "submission queue");

    size_t command_bytes = read_bytes < controller.max_data_size ? read_bytes : controller.max_data_size;
    size_t pieces = read_bytes / command_bytes, commands = depth * pieces;
    if (commands > MAX_COMMANDS) die("too many in flight");
    nvm_dma_t *data = allocate(ctrl, depth * read_bytes);
    size_t pages = command_bytes / PAGE, blocks = command_bytes / ns.lba_data_size;

    uint64_t state = 20261121, slba = 0, done = 0, first_done = 0;
    size_t piece = 0;
    uint16_t unused[MAX_COMMANDS], left = 0;
    while (left < commands) unused[left] = left, left++;
    struct instant first = { 0 };
    double until = now_ms() + warm_up_ms;
    for (uint32_t turn = 0;; turn++) {
        // Read the clock only every 64 turns, since that is slow unless the clock source is a CPU register.
        if (turn % 64 == 0 && now_ms() >= until) {
            if (first.ms != 0) break;
            first = instant_of(counters);
            first_done = done;
            until = first.ms + window_ms;
        }
        while (left > 0) {
            uint16_t slot = unused[--left];
            if (piece == 0) {
                state ^= state << 13, state ^= state >> 7, state ^= state << 17;
                slba = state % (span / read_bytes) * (read_bytes / ns.lba_data_size);
            }
            nvm_cmd_t *command = nvm_sq_enqueue(&sq);
            nvm_cmd_header(command, slot, NVM_IO_READ, 1);
            nvm_cmd_data(command, PAGE, pages, queue_memory + (2 + slot) * PAGE, queues->ioaddrs[2 + slot],
                         &data->ioaddrs[slot * pages]);
            nvm_cmd_rw_blks(command, slba + piece * blocks, blocks);
            piece = (piece + 1) % pieces;
        }
        nvm_sq_submit(&sq);
        for (nvm_cpl_t *entry; (entry = nvm_cq_dequeue(&cq)) != NULL; done++) {
            if (!NVM_ERR_OK(entry)) die(nvm_strerror(NVM_ERR_STATUS(entry)));
            nvm_sq_update(&sq);
            unused[left++] = *NVM_CPL_CID(entry);
        }
        nvm_cq_update(&cq);
    }
    struct instant last = instant_of(counters);
    uint64_t ios = (done - first_done) / pieces;
    while (left < commands) {
        if (nvm_cq_dequeue(&cq) != NULL) left++;
    }
    printf("{\"ios\":%" PRIu64 ",\"ms\":%.3f,\"instructions\":{\"user\":%" PRIu64 ",\"kernel\":%" PRIu64 "},"
           "\"cpuUs\":{\"user\":%.0f,\"system\":%.0f}}\n",
           ios, last.ms - first.ms, last.user - first.user, last.kernel - first.kernel, last.user_us - first.user_us,
           last.system_us - first.system_us);
    nvm_admin_sq_delete(admin, &sq, &cq);
    nvm_admin_cq_delete(admin, &cq);
    nvm_aq_destroy(admin);
    return 0;
}
