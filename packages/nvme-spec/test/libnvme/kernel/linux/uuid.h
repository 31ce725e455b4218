/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernel's linux/nvme.h needs of its neighbours, to be read outside of the kernel. */
#ifndef GPUNVME_TEST_LINUX_UUID_H
#define GPUNVME_TEST_LINUX_UUID_H

typedef struct {
	unsigned char b[16];
} uuid_t;

#endif
