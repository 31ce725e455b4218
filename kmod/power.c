// SPDX-License-Identifier: GPL-2.0-only
/* The machine sleeps: the controller forgets its queues, while memory and mappings stay. */
#include <linux/pm.h>

#include "gpunvme.h"

static int gpunvme_suspend(struct device *dev)
{
	struct gpunvme *g = dev_get_drvdata(dev);

	mutex_lock(&g->lock);
	gpunvme_quiesce(g);
	mutex_unlock(&g->lock);
	gpunvme_event(g, GPUNVME_EVENT_SUSPEND);
	return 0;
}

/*
 * The kernel has restored the configuration as it was at that moment: bus mastering is off until
 * the owner turns it on.
 */
static int gpunvme_resume(struct device *dev)
{
	return 0;
}

DEFINE_SIMPLE_DEV_PM_OPS(gpunvme_power, gpunvme_suspend, gpunvme_resume);
