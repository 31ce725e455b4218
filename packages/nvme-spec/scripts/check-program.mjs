// Writes include/gpunvme/nvme_spec_check.c: prints values encoded with the header, which a test compares with those
// encoded in TypeScript.

/** Returns the check program for the header in `out`. */
export function writeCheckProgram(
  /** @type {Pick<import('./rows.mjs').Output, 'words' | 'functions' | 'calls'>} */ out,
) {
  return `/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints known values encoded with gpunvme/nvme_spec.h. Compiling it checks every size and every offset.
 * Generated from the declarations in packages/nvme-spec/src; edit those, then run: pnpm gen
 *
 *   number NAME VALUE                      an offset, an opcode, an identifier, a size
 *   word NAME WORD                         a known value in every row of a word
 *   bits PATH OFFSET WORD                  all bits of one row, in the word or bytes at OFFSET of its owner
 *   value PATH OFFSET WORD                 a named value, in its row
 *   member PATH OFFSET BYTES LAST VALUE    a member of a filled structure; VALUE is in its last LAST bytes
 *   sqe NAME BYTES                         an entry of a command with a known value in every field
 *   doorbell TAIL|HEAD QID DSTRD OFFSET    the offset of a doorbell
 */
#include "nvme_spec.h"

#include <stdio.h>
#include <string.h>

/* Stored in fields that may hold any value, truncated to their width; below 2^53, the limit of JavaScript's integers. */
#define PATTERN 0x1e3779b97f4a15ULL

struct word {
	const char *kind;
	const char *path;
	size_t offset;
	uint64_t value;
};

static const struct word words[] = {
${out.words.map((line) => `\t${line}`).join('\n')}
};

/* Byte i holds 7i + i / 256 + 1, so that neighbouring members differ whatever their distance. */
static void fill(void *memory, size_t bytes)
{
	unsigned char *at = (unsigned char *)memory;
	for (size_t i = 0; i < bytes; i++)
		at[i] = (unsigned char)(7 * i + i / 256 + 1);
}

static void member(const char *path, size_t offset, size_t bytes, size_t last, uint64_t value)
{
	printf("member %s %zu %zu %zu 0x%llx\\n", path, offset, bytes, last, (unsigned long long)value);
}

static void begin(uint32_t dw[16], unsigned opcode)
{
	struct gpunvme_sqe sqe;
	memset(&sqe, 0, sizeof(sqe));
	sqe.opc = (uint8_t)opcode;
	sqe.cid = 0x0412;
	memcpy(dw, &sqe, sizeof(sqe));
}

static void wide(uint32_t dw[16], unsigned dword, unsigned bits)
{
	for (unsigned i = 0; i < bits / 8; i++)
		((unsigned char *)&dw[dword])[i] = (unsigned char)(PATTERN >> (8 * (i % 8)));
}

static void end(const char *command, const uint32_t dw[16])
{
	printf("sqe %s ", command);
	for (size_t i = 0; i < 64; i++)
		printf("%02x", ((const unsigned char *)dw)[i]);
	printf("\\n");
}
${out.functions.join('\n')}

int main(void)
{
	static const unsigned qids[] = { 0, 1, 2, 65535 };
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const struct word *w = &words[i];
		int plain = strcmp(w->kind, "number") == 0 || strcmp(w->kind, "word") == 0;
		printf("%s %s ", w->kind, w->path);
		if (!plain)
			printf("%zu ", w->offset);
		printf("0x%llx\\n", (unsigned long long)w->value);
	}
	for (size_t i = 0; i < sizeof(qids) / sizeof(qids[0]); i++) {
		for (unsigned dstrd = 0; dstrd < 16; dstrd++) {
			unsigned long long tail = GPUNVME_SQ_TAIL_DOORBELL(qids[i], dstrd);
			unsigned long long head = GPUNVME_CQ_HEAD_DOORBELL(qids[i], dstrd);
			printf("doorbell TAIL %u %u 0x%llx\\n", qids[i], dstrd, tail);
			printf("doorbell HEAD %u %u 0x%llx\\n", qids[i], dstrd, head);
		}
	}
${out.calls.map((line) => `\t${line}`).join('\n')}
	return 0;
}
`
}
