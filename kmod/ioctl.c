// SPDX-License-Identifier: GPL-2.0-only
/* From a request's number and a pointer to a function with checked arguments, and back. */
#include <linux/build_bug.h>
#include <linux/fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "gpunvme.h"

union arguments {
	struct {
		u32 size;
		u32 flags;
	} head;
	struct gpunvme_info info;
	struct gpunvme_alloc_coherent alloc_coherent;
	struct gpunvme_pin_user pin_user;
	struct gpunvme_import_dmabuf import_dmabuf;
	struct gpunvme_memory memory;
	struct gpunvme_release release;
	struct gpunvme_set_bus_master set_bus_master;
	struct gpunvme_reset reset;
	struct gpunvme_set_irq set_irq;
	struct gpunvme_set_notify set_notify;
	struct gpunvme_read_config read_config;
};

/* Calls one function of the module under the lock. */
#define LOCKED(g, call)                        \
	({                                     \
		int error_ = gpunvme_enter(g); \
		if (!error_) {                 \
			error_ = (call);       \
			gpunvme_leave(g);      \
		}                              \
		error_;                        \
	})

static int get_info(struct gpunvme *g, union arguments *args)
{
	return LOCKED(g, gpunvme_get_info(g, &args->info));
}

static int alloc_coherent(struct gpunvme *g, union arguments *args)
{
	if (args->alloc_coherent.reserved)
		return -EINVAL;
	return LOCKED(g, gpunvme_alloc_coherent(g, &args->alloc_coherent));
}

/* Hands segments over; what they are of is given back where that fails. */
static int give_segments(struct gpunvme *g, struct gpunvme_segments *segments, u32 handle,
			 int error)
{
	size_t bytes = (size_t)segments->count * sizeof(*segments->array);

	if (!error && copy_to_user(segments->user, segments->array, bytes)) {
		mutex_lock(&g->lock);
		gpunvme_release_memory(g, handle);
		mutex_unlock(&g->lock);
		error = -EFAULT;
	}
	kvfree(segments->array);
	return error;
}

static int pin_user(struct gpunvme *g, union arguments *args)
{
	struct gpunvme_pin_user *pin = &args->pin_user;
	struct gpunvme_segments segments = {
		.user = u64_to_user_ptr(pin->segments),
		.capacity = pin->segment_capacity,
	};
	int error;

	if (pin->reserved)
		return -EINVAL;
	/* Takes the lock itself: memory of a process is not touched under it. */
	error = gpunvme_pin_user(g, pin, &segments);
	pin->segment_count = segments.count;
	return give_segments(g, &segments, pin->handle, error);
}

static int import_dmabuf(struct gpunvme *g, union arguments *args)
{
	struct gpunvme_import_dmabuf *import = &args->import_dmabuf;
	struct gpunvme_segments segments = {
		.user = u64_to_user_ptr(import->segments),
		.capacity = import->segment_capacity,
	};
	int error = LOCKED(g, gpunvme_import_dmabuf(g, import, &segments));

	import->segment_count = segments.count;
	return give_segments(g, &segments, import->handle, error);
}

static int get_memory(struct gpunvme *g, union arguments *args)
{
	return LOCKED(g, gpunvme_get_memory(g, &args->memory));
}

static int release(struct gpunvme *g, union arguments *args)
{
	if (args->release.reserved)
		return -EINVAL;
	return LOCKED(g, gpunvme_release_memory(g, args->release.handle));
}

static int set_bus_master(struct gpunvme *g, union arguments *args)
{
	if (args->set_bus_master.reserved)
		return -EINVAL;
	return LOCKED(g, gpunvme_set_bus_master(g, &args->set_bus_master));
}

static int reset(struct gpunvme *g, union arguments *args)
{
	if (args->reset.reserved)
		return -EINVAL;
	return LOCKED(g, gpunvme_reset(g, &args->reset));
}

static int set_irq(struct gpunvme *g, union arguments *args)
{
	return LOCKED(g, gpunvme_set_irq(g, &args->set_irq));
}

static int set_notify(struct gpunvme *g, union arguments *args)
{
	if (args->set_notify.reserved)
		return -EINVAL;
	return LOCKED(g, gpunvme_set_notify(g, &args->set_notify));
}

static int read_config(struct gpunvme *g, union arguments *args)
{
	if (args->read_config.reserved)
		return -EINVAL;
	return LOCKED(g, gpunvme_read_config(g, &args->read_config));
}

#define PIN_FLAGS (GPUNVME_DEVICE_READS | GPUNVME_DEVICE_WRITES)

static const struct {
	u32 request;
	u32 flags;
	int (*run)(struct gpunvme *g, union arguments *args);
} requests[] = {
	{ GPUNVME_GET_INFO, 0, get_info },
	{ GPUNVME_ALLOC_COHERENT, 0, alloc_coherent },
	{ GPUNVME_PIN_USER, PIN_FLAGS, pin_user },
	{ GPUNVME_IMPORT_DMABUF, PIN_FLAGS | GPUNVME_IMPORT_DYNAMIC, import_dmabuf },
	{ GPUNVME_GET_MEMORY, 0, get_memory },
	{ GPUNVME_RELEASE, 0, release },
	{ GPUNVME_SET_BUS_MASTER, 0, set_bus_master },
	{ GPUNVME_RESET, 0, reset },
	{ GPUNVME_SET_IRQ, 0, set_irq },
	{ GPUNVME_SET_NOTIFY, 0, set_notify },
	{ GPUNVME_READ_CONFIG, 0, read_config },
};

/* The handle that a request has made; 0 where it makes none. */
static u32 made_handle(u32 request, const union arguments *args)
{
	switch (request) {
	case GPUNVME_ALLOC_COHERENT:
		return args->alloc_coherent.handle;
	case GPUNVME_PIN_USER:
		return args->pin_user.handle;
	case GPUNVME_IMPORT_DMABUF:
		return args->import_dmabuf.handle;
	default:
		return 0;
	}
}

static int take_arguments(union arguments *args, void __user *user, size_t known, size_t given)
{
	int error;

	if (given < known)
		return -EINVAL;
	error = copy_struct_from_user(args, known, user, given);
	if (error)
		return error;
	/*
	 * Said twice, so that a program which was compiled with another structure than its number's
	 * is told.
	 */
	return args->head.size == given ? 0 : -EINVAL;
}

long gpunvme_ioctl(struct file *file, unsigned int request, unsigned long argument)
{
	struct gpunvme *g = file->private_data;
	void __user *user = (void __user *)argument;
	unsigned int number = _IOC_NR(request);
	union arguments args = {};
	size_t known;
	int error;

	if (_IOC_TYPE(request) != GPUNVME_IOC_TYPE ||
	    _IOC_DIR(request) != (_IOC_READ | _IOC_WRITE) || number >= ARRAY_SIZE(requests))
		return -ENOTTY;
	if (g->mm != current->mm)
		return -EPERM;
	known = _IOC_SIZE(requests[number].request);
	error = take_arguments(&args, user, known, _IOC_SIZE(request));
	if (error)
		return error;
	if (args.head.flags & ~requests[number].flags)
		return -EINVAL;
	error = requests[number].run(g, &args);
	/* A request for segments says how many there would have been. */
	if (error && error != -ENOSPC)
		return error;
	if (copy_to_user(user, &args, known)) {
		mutex_lock(&g->lock);
		if (!error && made_handle(requests[number].request, &args))
			gpunvme_release_memory(g, made_handle(requests[number].request, &args));
		mutex_unlock(&g->lock);
		return -EFAULT;
	}
	return error;
}
