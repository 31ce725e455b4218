/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
#ifndef GPUNVME_TEST_H
#define GPUNVME_TEST_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* In: an address of the caller. Out: the frame that the kernel's own lookup finds behind it. */
#define TEST_LOOKUP _IOWR('T', 0, __u64)
/*
 * In: pages. Out: a descriptor of a dma-buf of as many pages, each filled with its number plus 1.
 */
#define TEST_EXPORT _IOWR('T', 1, __u32)
/*
 * In: such a descriptor. Out: how many mappings are left after importers were told that its memory
 * moves; it is moved.
 */
#define TEST_MOVE _IOWR('T', 2, __u32)
/*
 * In: a PCI function, (domain << 16 | bus << 8 | device and function) << 1, and 1 to mark it as
 * pulled out, as pciehp does, 0 to undo that.
 */
#define TEST_PULL _IOWR('T', 3, __u64)

#endif
