// SPDX-License-Identifier: GPL-2.0-only
/* A scatter list as the controller sees it: as few segments as there can be. */
#include <linux/dma-mapping.h>
#include <linux/slab.h>

#include "gpunvme.h"

/*
 * Walks the first @length bytes; writes segments where there is an array. Returns their count, 0
 * where bytes lack.
 */
static u32 walk(struct sg_table *sgt, u64 length, struct gpunvme_segment *array)
{
	struct gpunvme_segment last = {};
	struct scatterlist *sg;
	u32 count = 0;
	int i;

	for_each_sgtable_dma_sg(sgt, sg, i) {
		u64 end = last.offset + last.length;
		u64 bytes = min_t(u64, sg_dma_len(sg), length - end);

		if (bytes == 0)
			break;
		if (count == 0 || last.iova + last.length != sg_dma_address(sg)) {
			count++;
			last = (struct gpunvme_segment){ .offset = end,
							 .iova = sg_dma_address(sg) };
		}
		last.length += bytes;
		if (array)
			array[count - 1] = last;
	}
	return last.offset + last.length == length ? count : 0;
}

int gpunvme_list_segments(struct gpunvme_segments *segments, struct sg_table *sgt, u64 length)
{
	u32 count = walk(sgt, length, NULL);

	if (count == 0)
		return -EOPNOTSUPP;
	segments->count = count;
	if (count > segments->capacity)
		return -ENOSPC;
	segments->array =
		kvmalloc_array(count, sizeof(*segments->array), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!segments->array)
		return -ENOMEM;
	walk(sgt, length, segments->array);
	return 0;
}
