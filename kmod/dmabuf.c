// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of another device, by dma-buf: no symbol of that device's driver is needed. A dynamic
 * importer may have to give it back at any moment, and NVMe has no page faults: then DMA of the
 * whole controller ends.
 */
#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/file.h>

#include "gpunvme.h"

/* How long a move that is under way may take. */
#define READY_TIMEOUT msecs_to_jiffies(5000)

int gpunvme_direction(u32 flags, enum dma_data_direction *direction)
{
	switch (flags & (GPUNVME_DEVICE_READS | GPUNVME_DEVICE_WRITES)) {
	case GPUNVME_DEVICE_READS:
		*direction = DMA_TO_DEVICE;
		return 0;
	case GPUNVME_DEVICE_WRITES:
		*direction = DMA_FROM_DEVICE;
		return 0;
	case GPUNVME_DEVICE_READS | GPUNVME_DEVICE_WRITES:
		*direction = DMA_BIDIRECTIONAL;
		return 0;
	default:
		return -EINVAL;
	}
}

/*
 * The exporter takes its memory back; it holds the reservation lock, and waits for nothing after
 * this.
 */
static void invalidated(struct dma_buf_attachment *attachment)
{
	struct gpunvme_mem *mem = attachment->importer_priv;
	struct gpunvme *g = mem->owner;

	if (!mem->sgt)
		return;
	spin_lock(&g->dma_lock);
	g->revoked_count++;
	spin_unlock(&g->dma_lock);
	gpunvme_halt(g);
	dma_buf_unmap_attachment(attachment, mem->sgt, mem->direction);
	mem->sgt = NULL;
	WRITE_ONCE(mem->revoked, true);
	gpunvme_event(g, GPUNVME_EVENT_REVOKED);
}

static const struct dma_buf_attach_ops dynamic = {
	.allow_peer2peer = true,
#ifdef GPUNVME_HAS_INVALIDATE_MAPPINGS
	.invalidate_mappings = invalidated,
#else
	.move_notify = invalidated,
#endif
};

/*
 * The segments of a mapping are only right as long as the lock is held, or the event has not come.
 */
static int map_dynamic(struct gpunvme_mem *mem, struct gpunvme_segments *segments)
{
	struct dma_resv *resv = mem->attachment->dmabuf->resv;
	struct sg_table *sgt;
	long left;
	int error;

	error = dma_resv_lock_interruptible(resv, NULL);
	if (error)
		return -EINTR;
	sgt = dma_buf_map_attachment(mem->attachment, mem->direction);
	if (IS_ERR(sgt)) {
		dma_resv_unlock(resv);
		return PTR_ERR(sgt);
	}
	left = dma_resv_wait_timeout(resv, DMA_RESV_USAGE_KERNEL, true, READY_TIMEOUT);
	if (left <= 0)
		error = left < 0 ? -EINTR : -ETIMEDOUT;
	else
		error = gpunvme_list_segments(segments, sgt, mem->length);
	if (error)
		dma_buf_unmap_attachment(mem->attachment, sgt, mem->direction);
	else
		mem->sgt = sgt;
	dma_resv_unlock(resv);
	return error;
}

static int map_static(struct gpunvme_mem *mem, struct gpunvme_segments *segments)
{
	struct sg_table *sgt = dma_buf_map_attachment_unlocked(mem->attachment, mem->direction);
	int error;

	if (IS_ERR(sgt))
		return PTR_ERR(sgt);
	error = gpunvme_list_segments(segments, sgt, mem->length);
	if (error)
		dma_buf_unmap_attachment_unlocked(mem->attachment, sgt, mem->direction);
	else
		mem->sgt = sgt;
	return error;
}

static void unmap(struct gpunvme *g, struct gpunvme_mem *mem)
{
	struct dma_buf_attachment *attachment = mem->attachment;

	if (!mem->dynamic) {
		dma_buf_unmap_attachment_unlocked(attachment, mem->sgt, mem->direction);
		return;
	}
	dma_resv_lock(attachment->dmabuf->resv, NULL);
	if (mem->sgt)
		dma_buf_unmap_attachment(attachment, mem->sgt, mem->direction);
	mem->sgt = NULL;
	dma_resv_unlock(attachment->dmabuf->resv);
	if (mem->revoked) {
		spin_lock(&g->dma_lock);
		g->revoked_count--;
		spin_unlock(&g->dma_lock);
	}
}

static struct dma_buf *get_dmabuf(int fd)
{
	struct file *file = fget(fd);
	struct dma_buf *dmabuf;

	if (!file)
		return ERR_PTR(-EBADF);
	fput(file);
	dmabuf = dma_buf_get(fd);
	/* What dma_buf_get() says of a file that is something else. */
	return dmabuf == ERR_PTR(-EINVAL) ? ERR_PTR(-EMEDIUMTYPE) : dmabuf;
}

/*
 * What exporters say differs; who has no memory, or was interrupted, is no exporter that refuses.
 */
static int refusal(int error, const struct gpunvme_segments *segments)
{
	switch (error) {
	case -ENOMEM:
	case -EINTR:
	case -ETIMEDOUT:
		return error;
	case -ENOSPC:
		/* Ours, of more segments than there is room for; or the exporter's. */
		return segments->count ? error : -EOPNOTSUPP;
	case -ERESTARTSYS:
		return -EINTR;
	default:
		return -EOPNOTSUPP;
	}
}

static int attach(struct gpunvme *g, struct gpunvme_mem *mem, struct dma_buf *dmabuf,
		  struct gpunvme_segments *segments)
{
	struct dma_buf_attachment *attachment;
	int error;

	if (mem->dynamic)
		attachment = dma_buf_dynamic_attach(dmabuf, &g->pdev->dev, &dynamic, mem);
	else
		attachment = dma_buf_attach(dmabuf, &g->pdev->dev);
	if (IS_ERR(attachment))
		return refusal(PTR_ERR(attachment), segments);
	mem->attachment = attachment;
	error = mem->dynamic ? map_dynamic(mem, segments) : map_static(mem, segments);
	if (!error) {
		mem->segment_count = segments->count;
		error = gpunvme_add_memory(g, mem);
		if (!error)
			return 0;
		unmap(g, mem);
	} else {
		error = refusal(error, segments);
	}
	dma_buf_detach(dmabuf, attachment);
	return error;
}

int gpunvme_import_dmabuf(struct gpunvme *g, struct gpunvme_import_dmabuf *args,
			  struct gpunvme_segments *segments)
{
	enum dma_data_direction direction;
	struct gpunvme_mem *mem;
	struct dma_buf *dmabuf;
	int error = gpunvme_direction(args->flags, &direction);

	if (error)
		return error;
	dmabuf = get_dmabuf(args->fd);
	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf);
	if (dmabuf->size > GPUNVME_MAX_LENGTH) {
		error = -EOVERFLOW;
		goto put;
	}
	mem = gpunvme_new_memory(g, GPUNVME_MEMORY_DMABUF, dmabuf->size);
	if (!mem) {
		error = -ENOMEM;
		goto put;
	}
	mem->direction = direction;
	mem->dynamic = args->flags & GPUNVME_IMPORT_DYNAMIC;
	error = attach(g, mem, dmabuf, segments);
	if (error) {
		gpunvme_put_memory(mem);
		goto put;
	}
	args->length = mem->length;
	args->handle = mem->handle;
	return 0;

put:
	dma_buf_put(dmabuf);
	return error;
}

void gpunvme_end_import(struct gpunvme *g, struct gpunvme_mem *mem)
{
	struct dma_buf *dmabuf = mem->attachment->dmabuf;

	unmap(g, mem);
	dma_buf_detach(dmabuf, mem->attachment);
	dma_buf_put(dmabuf);
}
