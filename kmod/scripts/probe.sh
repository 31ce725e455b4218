#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Prints, as a header, which of the kernel's interfaces are there in which form. $1 is the compiler with all that it needs
# to compile for this kernel. A question is asked by compiling it, so that a distribution's backports answer too.
set -u
CC="$1 -Wno-error -Wno-missing-prototypes -Werror=implicit-function-declaration -x c -fsyntax-only -"
compiles() {
	printf '%s\n' "$1" | $CC 2>/dev/null
}

if ! complaint=$(printf '#include <linux/module.h>\n' | $CC 2>&1); then
	printf 'gpunvme: nothing compiles for this kernel:\n%s\n' "$complaint" >&2
	exit 1
fi

ask() {
	if compiles "$2"; then echo "#define GPUNVME_HAS_$1"; fi
}

echo '/* Written by scripts/probe.sh. */'
# 6.3: the flags of a mapping are changed by functions.
ask VM_FLAGS_MOD '#include <linux/mm.h>
void t(struct vm_area_struct *vma) { vm_flags_mod(vma, VM_IO, 0); }'
# 6.8: an eventfd is signalled once.
ask EVENTFD_SIGNAL_ONCE '#include <linux/eventfd.h>
void t(struct eventfd_ctx *ctx) { eventfd_signal(ctx); }'
# 7.2: what move_notify was.
ask INVALIDATE_MAPPINGS '#include <linux/dma-buf.h>
void t(struct dma_buf_attach_ops *ops) { ops->invalidate_mappings = NULL; }'
# Until 6.12 a namespace of symbols was a bare word.
ask BARE_NAMESPACE '#include <linux/module.h>
MODULE_IMPORT_NS(DMA_BUF);'
