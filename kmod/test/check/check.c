// SPDX-License-Identifier: GPL-2.0-only
/* check NODE BDF CASE [ARGUMENT …] */
#include "check.h"

const char *node;
const char *bdf;

int main(int count, char **arguments)
{
	const struct check *const tables[] = { register_checks, errno_checks, random_checks,
					       memory_checks,	end_checks,   event_checks,
					       dmabuf_checks,	privilege_checks,
					       fallback_checks };

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (count < 4)
		die("expected NODE BDF CASE");
	node = arguments[1];
	bdf = arguments[2];
	for (unsigned int i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		for (const struct check *check = tables[i]; check->name; check++)
			if (!strcmp(check->name, arguments[3])) {
				check->run(arguments + 4);
				finish();
				return 0;
			}
	die("there is no case %s", arguments[3]);
}
