// SPDX-License-Identifier: GPL-2.0-only
/* Eventfds: for interrupts, and for what happens to the controller. */
#include <linux/interrupt.h>
#include <linux/slab.h>

#include "gpunvme.h"

void gpunvme_signal(struct eventfd_ctx *ctx)
{
#ifdef GPUNVME_HAS_EVENTFD_SIGNAL_ONCE
	eventfd_signal(ctx);
#else
	eventfd_signal(ctx, 1);
#endif
}

/* May be called under a dma-buf's reservation lock. */
void gpunvme_event(struct gpunvme *g, u32 event)
{
	spin_lock(&g->dma_lock);
	WRITE_ONCE(g->events, g->events | event);
	if (g->notify)
		gpunvme_signal(g->notify);
	spin_unlock(&g->dma_lock);
}

unsigned int gpunvme_irq_vectors(struct gpunvme *g)
{
	/* An error where there is no MSI-X. */
	return clamp(pci_msix_vec_count(g->pdev), 0, GPUNVME_MAX_VECTORS);
}

/* The eventfd behind a descriptor; NULL for -1. */
static struct eventfd_ctx *eventfd_of(int fd)
{
	struct eventfd_ctx *ctx;

	if (fd == -1)
		return NULL;
	ctx = eventfd_ctx_fdget(fd);
	/* Of a file that is no eventfd: EINVAL. */
	return IS_ERR(ctx) ? ERR_PTR(-EBADF) : ctx;
}

int gpunvme_set_notify(struct gpunvme *g, struct gpunvme_set_notify *args)
{
	struct eventfd_ctx *ctx = eventfd_of(args->fd);
	struct eventfd_ctx *last;

	if (IS_ERR(ctx))
		return PTR_ERR(ctx);
	spin_lock(&g->dma_lock);
	last = g->notify;
	g->notify = ctx;
	spin_unlock(&g->dma_lock);
	if (last)
		eventfd_ctx_put(last);
	return 0;
}

static irqreturn_t interrupted(int irq, void *ctx)
{
	gpunvme_signal(ctx);
	return IRQ_HANDLED;
}

/* All of them at once, with the first that is wanted: kernels before 6.2 cannot add any later. */
static int allocate_vectors(struct gpunvme *g)
{
	int count;

	if (g->irqs)
		return 0;
	count = pci_alloc_irq_vectors(g->pdev, 1, gpunvme_irq_vectors(g), PCI_IRQ_MSIX);
	if (count < 0)
		return count == -ENOMEM ? count : -EINVAL;
	g->irqs = kcalloc(count, sizeof(*g->irqs), GFP_KERNEL_ACCOUNT);
	if (!g->irqs) {
		pci_free_irq_vectors(g->pdev);
		return -ENOMEM;
	}
	g->irq_count = count;
	return 0;
}

static void take_away(struct gpunvme *g, unsigned int vector)
{
	struct eventfd_ctx *ctx = g->irqs[vector];

	if (!ctx)
		return;
	free_irq(pci_irq_vector(g->pdev, vector), ctx);
	eventfd_ctx_put(ctx);
	g->irqs[vector] = NULL;
}

int gpunvme_set_irq(struct gpunvme *g, struct gpunvme_set_irq *args)
{
	unsigned int vector = args->vector;
	struct eventfd_ctx *ctx;
	int error;

	if (vector >= gpunvme_irq_vectors(g))
		return -EINVAL;
	ctx = eventfd_of(args->fd);
	if (IS_ERR(ctx))
		return PTR_ERR(ctx);
	if (!ctx) {
		if (vector < g->irq_count)
			take_away(g, vector);
		return 0;
	}
	error = allocate_vectors(g);
	if (!error && vector >= g->irq_count)
		error = -EINVAL;
	if (!error && g->irqs[vector])
		error = -EEXIST;
	if (!error)
		error = request_irq(pci_irq_vector(g->pdev, vector), interrupted, 0, g->name, ctx);
	if (error) {
		eventfd_ctx_put(ctx);
		return error;
	}
	g->irqs[vector] = ctx;
	return 0;
}

void gpunvme_free_irqs(struct gpunvme *g)
{
	unsigned int vector;

	if (!g->irqs)
		return;
	for (vector = 0; vector < g->irq_count; vector++)
		take_away(g, vector);
	pci_free_irq_vectors(g->pdev);
	kfree(g->irqs);
	g->irqs = NULL;
	g->irq_count = 0;
}
