// Writes include/gpunvme/nvme_spec.h: every declaration for C11, C++17, CUDA and Linux kernel modules.
import { CQE } from '../dist/entries.js'
import { DOORBELL_BASE } from '../dist/doorbells.js'
import { SQE } from '../dist/entries.js'
import { writeCommand } from './commands.mjs'
import { items, placeOf, statusTables } from './items.mjs'
import { comment, uniqueNames } from './names.mjs'
import { defineNumber, defineWord } from './rows.mjs'
import { writeStruct } from './structs.mjs'

const prelude = `/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The NVMe wire format for C11, C++17, CUDA and Linux kernel modules.
 * Generated from the declarations in packages/nvme-spec/src; edit those, then run: pnpm gen
 *
 * Names are derived from the exports of @gpunvme/nvme-spec: CreateIoSq is GPUNVME_CREATE_IO_SQ, IdentifyController is
 * struct gpunvme_identify_controller.
 *
 * Bits: X_SHIFT is the position of the lowest bit. X_MASK is a mask in position, as of GENMASK(), for Linux's
 * FIELD_PREP() and FIELD_GET(). Named values are not shifted. Bits of a register are numbered in that register; bits of
 * a structure in the member that holds them, or in the little-endian integer that a member of bytes represents; bits of
 * a command in dword X_DWORD of its entry, for example cdw10 of struct gpunvme_sqe for 10. A field of more than one
 * dword has X_BITS instead, and its low dword is X_DWORD.
 *
 * Structures have C's natural alignment, without bit-fields or packing: fields that the specification does not align,
 * and reserved ranges, are arrays of bytes. Members named bits_N hold rows that share bytes. An entry of a list may be
 * at an unaligned address: copy it first. Text ends with its array and is not null-terminated.
 */
#ifndef GPUNVME_NVME_SPEC_H
#define GPUNVME_NVME_SPEC_H

#ifdef __KERNEL__
#include <linux/stddef.h>
#include <linux/types.h>
#else
#include <stddef.h>
#include <stdint.h>
#endif

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "gpunvme/nvme_spec.h accesses device memory without byte swapping: it supports only little-endian processors"
#endif

#if defined(__cplusplus)
#define GPUNVME_ALIGNED(n) alignas(n)
#define GPUNVME_ASSERT(condition, text) static_assert(condition, text)
#else
#define GPUNVME_ALIGNED(n) _Alignas(n)
#define GPUNVME_ASSERT(condition, text) _Static_assert(condition, text)
#endif
#define GPUNVME_ASSERT_SIZE(type, bytes) GPUNVME_ASSERT(sizeof(type) == (bytes), #type " is not " #bytes " bytes")
#define GPUNVME_ASSERT_OFFSET(type, member, bytes) \\
\tGPUNVME_ASSERT(offsetof(type, member) == (bytes), #member " of " #type " is not at byte " #bytes)

/* The bits of a field, given by its name without _MASK: GPUNVME_FIELD_PREP(GPUNVME_CC_MPS, 0) */
#define GPUNVME_FIELD_PREP(field, value) (((((field##_MASK) & 0) | (value)) << (field##_SHIFT)) & (field##_MASK))
/* The value of a field in a word: GPUNVME_FIELD_GET(GPUNVME_CSTS_SHST, csts) */
#define GPUNVME_FIELD_GET(field, word) (((word) & (field##_MASK)) >> (field##_SHIFT))`

const doorbells = `
/* Doorbells: 64-bit byte offset in BAR0 of the doorbell of queue qid; dstrd is CAP.DSTRD (PCIe 1.2 §3.1.2) */
#define GPUNVME_SQ_TAIL_DOORBELL(qid, dstrd) (GPUNVME_DOORBELL_BASE + ((2ULL * (qid)) << (2 + (dstrd))))
#define GPUNVME_CQ_HEAD_DOORBELL(qid, dstrd) (GPUNVME_DOORBELL_BASE + ((2ULL * (qid) + 1) << (2 + (dstrd))))`

/** Structures aligned to 16 bytes: queue entries, which a GPU loads and stores 16 bytes at a time. */
const queueEntries = new Set([SQE, CQE])

/** Returns the text of the header, and the parts of its check program. */
export function writeHeader() {
  /** @type {import('./rows.mjs').Output} */
  const out = { header: [prelude], words: [], calls: [], functions: [], unique: uniqueNames() }
  const nameOf = (/** @type {{ name: string }} */ item) => placeOf(item).exportName
  const title = (/** @type {string} */ text) => out.header.push('', comment(text))

  for (const register of items.registers) {
    const { name, doc, access, widthBits, spec, offset } = register
    title(`${name}: ${doc} (${access}, ${widthBits} bits; ${spec})`)
    defineNumber(out, ['REG', name], `${name}.offset`, offset)
    defineWord(out, [name], name, register)
  }

  out.header.push(doorbells)
  defineNumber(out, ['DOORBELL_BASE'], 'DOORBELL_BASE', DOORBELL_BASE)

  /** @type {Map<import('./items.mjs').AnyStruct, { tag: string, align: number }>} */
  const written = new Map()
  for (const struct of items.structs) {
    const align = queueEntries.has(/** @type {any} */ (struct)) ? 16 : 1
    written.set(
      struct,
      writeStruct(out, nameOf(struct), struct, (nested) => /** @type {any} */ (written.get(nested)), align),
    )
  }

  for (const command of items.commands) writeCommand(out, nameOf(command), command)

  for (const feature of items.features) {
    const name = nameOf(feature)
    title(`${name} (feature): ${feature.doc} (${feature.spec})`)
    defineNumber(out, [name, 'FID'], `${name}.fid`, feature.fid)
    for (const dword of /** @type {const} */ (['CDW11', 'CDW12', 'CDW13', 'CDW14', 'CDW15', 'DW0'])) {
      const word = feature[dword]
      // If dword 0 of the completion has the rows of Command Dword 11, the macros of CDW11 apply to it.
      if (word === undefined || (dword === 'DW0' && word.fields === feature.CDW11?.fields)) continue
      defineWord(out, [name, dword], `${name}.${dword}`, word)
    }
  }

  for (const word of items.words) {
    title(`${nameOf(word)}: ${word.doc} (${word.spec})`)
    defineWord(out, [nameOf(word)], nameOf(word), word)
  }

  for (const table of items.codes) {
    title(`${nameOf(table)}: ${table.doc} (${table.spec})`)
    for (const [name, value] of Object.entries(table.values)) {
      defineNumber(out, [nameOf(table), name], `${nameOf(table)}.${name}`, value)
    }
  }

  title(
    'Statuses: the Status Code Type in bits 10:8, the Status Code in bits 7:0, as bits 11:1 of the status member of',
  )
  out.header.push(comment('struct gpunvme_cqe hold them (Base 2.1 §4.2.3)'))
  for (const { exportName, table } of statusTables) {
    for (const [name, { sct, sc, name: text }] of Object.entries(table)) {
      defineNumber(out, [exportName, name], `${exportName}.${name}`, sct * 256 + sc, text)
    }
  }

  out.header.push('', '#endif', '')
  return { ...out, header: out.header.join('\n') }
}
