/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The face of the module gpunvme towards user space: one character device /dev/gpunvmeN for each NVMe controller that
 * was bound to it. For C11 and C++17, and for the module itself.
 *
 * Without translation by an IOMMU, open(2) requires CAP_SYS_RAWIO and a kernel that is not locked down (else EPERM),
 * taints the kernel (U) and logs the process.
 *
 * Rules that hold for every request:
 * - One open file owns the controller (open(2) gives EBUSY to the next), and of that file one address space: the one
 *   that opened it. Others get EPERM, children of fork(2) too.
 * - Each structure begins with its own size in bytes, which is also the size in the request's number. A larger one is
 *   taken if what this header does not know is zero (else E2BIG), so that a program may be newer than the module; a
 *   smaller one is EINVAL. Flags that are not known, and reserved members that are not zero, are EINVAL.
 * - A request that fails leaves nothing pinned, mapped or allocated.
 * - Bus mastering is off when the file is opened, after a reset, and after anything of GPUNVME_EVENT_*, until
 *   GPUNVME_SET_BUS_MASTER. At the end - the last close(2) with the last mapping gone, which death is where no other process
 *   was given the descriptor - it is turned off and the controller disabled or reset before any memory is given back.
 *
 * What an errno says, wherever it comes from:
 *   EAGAIN       another process is resetting or removing the device
 *   E2BIG        the structure is larger than the module's, and the rest is not zero
 *   EBADF        no open file, or no eventfd, is behind that descriptor
 *   EBUSY        open already; coherent memory is still mapped; or the reset would reset other functions
 *   EEXIST       an interrupt vector has an eventfd already
 *   EFAULT       memory that is not there, is read-only, or is no ordinary memory
 *   EINTR        a signal came while the request waited
 *   EINVAL       wrong size, flag, reserved member, alignment, length of zero, register, vector or mmap range
 *   EIO          the controller does not follow: all its registers read as ones, it does not stop, or a reset failed
 *   EMEDIUMTYPE  the descriptor is no dma-buf
 *   EMFILE       GPUNVME_MAX_HANDLES handles are in use
 *   ENODEV       the controller was removed, or unbound from the module
 *   ENOENT       there is no such handle
 *   ENOLCK       RLIMIT_MEMLOCK does not allow that much
 *   ENOMEM       the kernel has no such memory left
 *   ENOSPC       more segments than the array holds; segment_count says how many there are
 *   ENOTTY       no request of this module
 *   EOPNOTSUPP   the exporter of a dma-buf refuses, the kernel bounces the memory, or there is no such reset
 *   EOVERFLOW    a length above GPUNVME_MAX_LENGTH or GPUNVME_MAX_COHERENT_LENGTH, or a range that wraps around
 *   EPERM        an address space that did not open the file; or mmap(2) of MSI-X, private, or executable; of open(2):
 *                no translation, and no CAP_SYS_RAWIO or lockdown
 *   ESTALE       a dma-buf whose memory has gone is still imported: release it before turning bus mastering on
 *   ETIMEDOUT    a dma-buf's memory did not become ready
 */
#ifndef GPUNVME_IOCTL_H
#define GPUNVME_IOCTL_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Changes when something that was true of a request is not any more. */
#define GPUNVME_ABI_VERSION 1

/* The longest memory of one handle, in bytes. */
#define GPUNVME_MAX_LENGTH (1ULL << 32)
/* The longest coherent memory, in bytes. */
#define GPUNVME_MAX_COHERENT_LENGTH (1ULL << 26)
/* Handles at a time. */
#define GPUNVME_MAX_HANDLES 65536

/*
 * mmap(2): BAR0 is at offset 0, by pages, shared, and only where no MSI-X structure is. Coherent memory is at the
 * offset that GPUNVME_ALLOC_COHERENT gives, whole or from its beginning.
 * After the controller was removed, or unbound, mappings stay: registers are memory of ones then, and what is written
 * there does nothing; memory has what it had last, or raises SIGBUS where there was none left to keep that in.
 * The kernel waits with the removal until the file is closed and unmapped. If the hardware is gone, it kills the owner
 * after the module's parameter gone_timeout, in seconds.
 */
#define GPUNVME_MMAP_BAR0 0

/* Whether an IOMMU stands between the controller and memory. */
#define GPUNVME_IOMMU_NONE 0 /* There is none: iova is a physical address. */
#define GPUNVME_IOMMU_IDENTITY 1 /* It passes everything through (iommu=pt): iova is a physical address. */
#define GPUNVME_IOMMU_TRANSLATED 2 /* The controller reaches what was mapped for it, and nothing else. */

/* What the function can be reset by: bits of reset_methods, and GPUNVME_RESET's method. */
#define GPUNVME_RESET_FUNCTION 1 /* As the kernel resets one function: FLR where there is one. */
#define GPUNVME_RESET_BUS 2 /* The link to it, where nothing else is behind that. */

/* What has happened to the controller since it was opened: bits of GPUNVME_GET_INFO's events. */
#define GPUNVME_EVENT_REVOKED 1 /* The exporter of a dma-buf took its memory back; GPUNVME_GET_MEMORY says which. */
#define GPUNVME_EVENT_RESET 2 /* reset externally. */
#define GPUNVME_EVENT_SUSPEND 4 /* The machine slept; the controller has forgotten its queues. */
#define GPUNVME_EVENT_ERROR 8 /* PCIe error recovery (AER) took place. */

struct gpunvme_info {
	__u32 size;
	__u32 flags; /* 0 */
	/* All others are what the module says; what was there before is not looked at. */
	__u32 abi_version;
	__u32 events; /* GPUNVME_EVENT_* */
	__u32 pci_domain;
	__u8 pci_bus;
	__u8 pci_device;
	__u8 pci_function;
	__u8 pci_revision;
	__u16 vendor_id;
	__u16 device_id;
	__u16 subsystem_vendor_id;
	__u16 subsystem_device_id;
	__u64 bar0_length; /* Bytes */
	__u64 bar0_mappable_length; /* Bytes from its beginning, up to the first page that cannot be mapped. */
	__u64 msix_table_offset; /* In BAR msix_table_bar; 0 without MSI-X. */
	__u32 msix_table_bar;
	__u32 irq_vectors; /* That GPUNVME_SET_IRQ takes: 0 to one less. */
	__u32 iommu_mode; /* GPUNVME_IOMMU_* */
	__u32 dma_address_bits;
	__u64 max_segment_length; /* Bytes */
	__u32 page_size; /* Bytes; the unit of GPUNVME_PIN_USER. */
	__s32 numa_node; /* -1: the machine does not say. */
	__u32 link_speed; /* As Link Status has it, 1: 2.5 GT/s, 2: 5, 3: 8, 4: 16, 5: 32; 0: no link. */
	__u32 link_width; /* Lanes */
	__u32 max_link_speed; /* As Link Capabilities has it. */
	__u32 max_link_width;
	__u32 max_payload_size; /* Bytes */
	__u32 max_read_request_size; /* Bytes */
	__u32 power_state; /* 0 to 3: D0 to D3hot, 4: D3cold. */
	__u32 bus_master; /* 1 where the controller may access memory. */
	__u32 reset_methods; /* GPUNVME_RESET_* */
	__u32 reserved;
};

/*
 * Memory of the kernel that processor and controller see alike; zeroed. A mapping of it can be
 * pinned, by a GPU's driver too, unless it is longer than 4 MiB or DMA needs bounce buffers.
 */
struct gpunvme_alloc_coherent {
	__u32 size;
	__u32 flags; /* 0 */
	__u64 length; /* Bytes; rounded up to pages in the answer. */
	__u64 iova; /* Out: where the controller finds it, all of it in one piece. */
	__u64 mmap_offset; /* Out */
	__u32 handle; /* Out */
	__u32 reserved;
};

/* One piece of memory as the controller addresses it. */
struct gpunvme_segment {
	__u64 offset; /* From the beginning of the memory. */
	__u64 iova;
	__u64 length; /* Bytes */
};

/* What the controller does with memory; at least one of the two. */
#define GPUNVME_DEVICE_READS 1
#define GPUNVME_DEVICE_WRITES 2

/*
 * The caller's own memory, locked where it is until it is released. It has to be writable, whatever the controller does:
 * the next write to a read-only page may copy it, and the controller would keep reading the old copy.
 */
struct gpunvme_pin_user {
	__u32 size;
	__u32 flags; /* GPUNVME_DEVICE_* */
	__u64 address; /* A multiple of page_size */
	__u64 length; /* Bytes, a multiple of page_size */
	__u64 segments; /* Pointer to struct gpunvme_segment[segment_capacity]; in order, without gaps. */
	__u32 segment_capacity;
	__u32 segment_count; /* Out, with ENOSPC too */
	__u32 handle; /* Out */
	__u32 reserved;
};

/*
 * Without it the memory is held where it is. With it the importer is dynamic: it allows peer-to-peer, which exporters of a
 * GPU's memory demand, and the exporter may take the memory back. Then bus mastering is cut and CC.EN cleared
 * before the exporter goes on, and GPUNVME_RELEASE waits until the controller has followed; GPUNVME_EVENT_REVOKED and the eventfd of GPUNVME_SET_NOTIFY tell of it.
 */
#define GPUNVME_IMPORT_DYNAMIC 4

/* Another device's memory, or any other that comes as a dma-buf. */
struct gpunvme_import_dmabuf {
	__u32 size;
	__u32 flags; /* GPUNVME_DEVICE_* and GPUNVME_IMPORT_DYNAMIC */
	__s32 fd; /* Of the dma-buf; it may be closed afterwards. */
	__u32 segment_capacity;
	__u64 segments; /* Pointer to struct gpunvme_segment[segment_capacity]; in order, without gaps. */
	__u64 length; /* Out: of the dma-buf, in bytes. */
	__u32 segment_count; /* Out, with ENOSPC too */
	__u32 handle; /* Out */
};

/* What a handle is of. */
#define GPUNVME_MEMORY_COHERENT 1
#define GPUNVME_MEMORY_USER 2
#define GPUNVME_MEMORY_DMABUF 3

struct gpunvme_memory {
	__u32 size;
	__u32 flags; /* 0 */
	__u32 handle;
	__u32 kind; /* Out: GPUNVME_MEMORY_* */
	__u64 length; /* Out: bytes */
	__u32 segment_count; /* Out */
	__u32 revoked; /* Out: 1 where the memory behind it has gone. */
};

/*
 * Gives memory back. What the controller still does with it is the caller's to know: without an IOMMU nothing keeps a
 * command that is in flight from reaching the pages afterwards. Coherent memory is EBUSY as long as it is mapped.
 */
struct gpunvme_release {
	__u32 size;
	__u32 flags; /* 0 */
	__u32 handle;
	__u32 reserved;
};

struct gpunvme_set_bus_master {
	__u32 size;
	__u32 flags; /* 0 */
	__u32 enable; /* 0 or 1 */
	__u32 reserved;
};

/* Resets the function. Memory and eventfds stay as they are; bus mastering is off afterwards. */
struct gpunvme_reset {
	__u32 size;
	__u32 flags; /* 0 */
	__u32 method; /* One of GPUNVME_RESET_* */
	__u32 reserved;
};

/* An interrupt by MSI-X adds 1 to an eventfd. */
struct gpunvme_set_irq {
	__u32 size;
	__u32 flags; /* 0 */
	__u32 vector;
	__s32 fd; /* Of an eventfd; -1 takes away the one that is there. */
};

/* Whatever sets a bit in events, and removal, adds 1 to an eventfd. */
struct gpunvme_set_notify {
	__u32 size;
	__u32 flags; /* 0 */
	__s32 fd; /* Of an eventfd, in place of the last one; -1: none. */
	__u32 reserved;
};

/* Configuration space can be read; what is written there is the kernel's. */
struct gpunvme_read_config {
	__u32 size;
	__u32 flags; /* 0 */
	__u32 offset; /* A multiple of width */
	__u32 width; /* Bytes: 1, 2 or 4 */
	__u32 value; /* Out */
	__u32 reserved;
};

#define GPUNVME_IOC_TYPE 0xE7

#define GPUNVME_GET_INFO _IOWR(GPUNVME_IOC_TYPE, 0, struct gpunvme_info)
#define GPUNVME_ALLOC_COHERENT _IOWR(GPUNVME_IOC_TYPE, 1, struct gpunvme_alloc_coherent)
#define GPUNVME_PIN_USER _IOWR(GPUNVME_IOC_TYPE, 2, struct gpunvme_pin_user)
#define GPUNVME_IMPORT_DMABUF _IOWR(GPUNVME_IOC_TYPE, 3, struct gpunvme_import_dmabuf)
#define GPUNVME_GET_MEMORY _IOWR(GPUNVME_IOC_TYPE, 4, struct gpunvme_memory)
#define GPUNVME_RELEASE _IOWR(GPUNVME_IOC_TYPE, 5, struct gpunvme_release)
#define GPUNVME_SET_BUS_MASTER _IOWR(GPUNVME_IOC_TYPE, 6, struct gpunvme_set_bus_master)
#define GPUNVME_RESET _IOWR(GPUNVME_IOC_TYPE, 7, struct gpunvme_reset)
#define GPUNVME_SET_IRQ _IOWR(GPUNVME_IOC_TYPE, 8, struct gpunvme_set_irq)
#define GPUNVME_SET_NOTIFY _IOWR(GPUNVME_IOC_TYPE, 9, struct gpunvme_set_notify)
#define GPUNVME_READ_CONFIG _IOWR(GPUNVME_IOC_TYPE, 10, struct gpunvme_read_config)

#endif
