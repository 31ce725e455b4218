// A QEMU TCG plugin that counts the instructions of the guest, in a file that is mapped as a BAR in the guest. Programs
// in the guest can read the current counts: two 64-bit numbers per vCPU, of user-space and of kernel instructions.
//
// Declares the required part of QEMU's plugin interface, version 1 (QEMU 7.2 docs/devel/tcg-plugins), since no Debian
// package contains its header.
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))
#define MAX_CPUS 16

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                           void (*callback)(qemu_plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, void (*callback)(unsigned, void *),
                                          enum qemu_plugin_cb_flags flags, void *argument);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);

EXPORTED int qemu_plugin_version = 1;

static uint64_t (*counters)[2];

static void executed(unsigned cpu, void *argument)
{
    // Each vCPU is a thread that writes only its own counters. The lowest bit is 1 for kernel code.
    uintptr_t block = (uintptr_t)argument;
    if (cpu < MAX_CPUS) counters[cpu][block & 1] += block >> 1;
}

// TCG executes each iteration of a repeated string instruction, except the first, as a separate block. A CPU counts
// only one instruction.
static int is_next_iteration(const struct qemu_plugin_tb *tb)
{
    if (qemu_plugin_tb_n_insns(tb) != 1) return 0;
    const struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, 0);
    const uint8_t *bytes = qemu_plugin_insn_data(insn);
    size_t size = qemu_plugin_insn_size(insn);
    uint8_t opcode = bytes[size - 1];
    int moves = opcode >= 0xa4 && opcode <= 0xa7, stores = opcode >= 0xaa && opcode <= 0xaf;
    return size >= 2 && size <= 4 && (bytes[0] == 0xf3 || bytes[0] == 0xf2) && (moves || stores);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    if (is_next_iteration(tb)) return;
    uintptr_t in_kernel = qemu_plugin_tb_vaddr(tb) >> 63;
    uintptr_t block = (uintptr_t)qemu_plugin_tb_n_insns(tb) << 1 | in_kernel;
    qemu_plugin_register_vcpu_tb_exec_cb(tb, executed, QEMU_PLUGIN_CB_NO_REGS, (void *)block);
}

EXPORTED int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
    (void)info;
    const char prefix[] = "counters=";
    if (argc != 1 || strncmp(argv[0], prefix, sizeof prefix - 1) != 0) return -1;
    int file = open(argv[0] + sizeof prefix - 1, O_RDWR | O_CLOEXEC);
    if (file < 0) return -1;
    counters = mmap(NULL, MAX_CPUS * sizeof *counters, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (counters == MAP_FAILED) return -1;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    return 0;
}
