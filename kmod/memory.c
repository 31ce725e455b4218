// SPDX-License-Identifier: GPL-2.0-only
/* Handles: what they are of, how many there are, and who pays for them. */
#include <linux/capability.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "gpunvme.h"

struct gpunvme_mem *gpunvme_new_memory(struct gpunvme *g, u32 kind, u64 length)
{
	struct gpunvme_mem *mem = kzalloc(sizeof(*mem), GFP_KERNEL_ACCOUNT);

	if (!mem)
		return NULL;
	kref_init(&mem->ref);
	mem->kind = kind;
	mem->length = length;
	mem->owner = g;
	return mem;
}

/* Gives it a handle. Under the lock. */
int gpunvme_add_memory(struct gpunvme *g, struct gpunvme_mem *mem)
{
	int error;

	if (g->memory_count == GPUNVME_MAX_HANDLES)
		return -EMFILE;
	error = xa_alloc(&g->memories, &mem->handle, mem, XA_LIMIT(1, INT_MAX), GFP_KERNEL_ACCOUNT);
	if (!error)
		g->memory_count++;
	return error;
}

static void free_memory(struct kref *ref)
{
	struct gpunvme_mem *mem = container_of(ref, struct gpunvme_mem, ref);

	vfree(mem->kept);
	kfree(mem);
}

void gpunvme_put_memory(struct gpunvme_mem *mem)
{
	kref_put(&mem->ref, free_memory);
}

int gpunvme_get_memory(struct gpunvme *g, struct gpunvme_memory *args)
{
	struct gpunvme_mem *mem = xa_load(&g->memories, args->handle);

	if (!mem)
		return -ENOENT;
	args->kind = mem->kind;
	args->length = mem->length;
	args->segment_count = mem->segment_count;
	args->revoked = READ_ONCE(mem->revoked);
	return 0;
}

static void end_memory(struct gpunvme *g, struct gpunvme_mem *mem)
{
	xa_erase(&g->memories, mem->handle);
	g->memory_count--;
	switch (mem->kind) {
	case GPUNVME_MEMORY_COHERENT:
		gpunvme_free_coherent(g, mem);
		break;
	case GPUNVME_MEMORY_USER:
		gpunvme_unpin_user(g, mem);
		break;
	case GPUNVME_MEMORY_DMABUF:
		gpunvme_end_import(g, mem);
		break;
	}
	gpunvme_put_memory(mem);
}

/* Under the lock. */
int gpunvme_release_memory(struct gpunvme *g, u32 handle)
{
	struct gpunvme_mem *mem = xa_load(&g->memories, handle);

	if (!mem)
		return -ENOENT;
	if (atomic_read(&mem->mapped))
		return -EBUSY;
	/* Afterwards bus mastering may come back: what has this memory in its queues must have stopped. */
	if (READ_ONCE(mem->revoked) && !gpunvme_quiesce(g))
		return -EIO;
	end_memory(g, mem);
	return 0;
}

/* At the end, when no mapping reaches coherent memory any more. Under the lock. */
void gpunvme_release_all(struct gpunvme *g)
{
	struct gpunvme_mem *mem;
	unsigned long handle;

	xa_for_each(&g->memories, handle, mem)
		end_memory(g, mem);
}

/* What stays in memory is the owner's, as far as RLIMIT_MEMLOCK goes. */
int gpunvme_charge(struct gpunvme *g, u64 length)
{
	unsigned long pages = length >> PAGE_SHIFT;
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;

	if (atomic64_add_return(pages, &g->mm->pinned_vm) <= limit || capable(CAP_IPC_LOCK))
		return 0;
	atomic64_sub(pages, &g->mm->pinned_vm);
	return -ENOLCK;
}

void gpunvme_uncharge(struct gpunvme *g, u64 length)
{
	atomic64_sub(length >> PAGE_SHIFT, &g->mm->pinned_vm);
}
