/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernel's linux/nvme.h needs of its neighbours, to be read outside of the kernel. */
#ifndef GPUNVME_TEST_LINUX_BITS_H
#define GPUNVME_TEST_LINUX_BITS_H

#include <stdbool.h>

#define GENMASK(high, low) ((~0u >> (31 - (high))) & (~0u << (low)))
#define struct_group(name, ...) struct { __VA_ARGS__ }
#define unlikely(condition) (condition)

#endif
