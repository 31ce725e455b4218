import { describe, expect, it } from 'vitest'
import type { Entry } from '../../conformance/raw-host/entry.js'
import { bytesOf, enabled, ready, TestHost } from '../../test/host.js'
import { at, onBlocks, readMarked, writeMarked } from '../../test/nvm.js'

const SUCCESS = '0/00'
const INVALID_FIELD = '0/02'
const FAILED_FUSED = '0/09'
const MISSING_FUSED = '0/0a'
const LBA_OUT_OF_RANGE = '0/80'
const COMPARE_FAILURE = '2/85'

const FIRST = 1 << 8
const SECOND = 2 << 8
const END = 2 ** 21

function half(host: TestHost, fuse: number, opcode: number, value: number, slba = 0, blocks = 1): Entry {
  const memory = host.alloc(blocks * 512)
  bytesOf(memory).fill(value)
  const entry = onBlocks(opcode, slba, blocks, at(host, memory))
  return { ...entry, cdw: { ...entry.cdw, 0: fuse } }
}

/** Submits entries with one doorbell write. Returns their statuses. */
async function together(host: TestHost, entries: readonly Entry[], qid = 1): Promise<string[]> {
  const cids = entries.map((entry) => host.stage(qid, entry))
  host.ringTail(qid)
  const completions = await host.collect(qid, entries.length)
  return cids.map((cid) => completions.find((each) => each.cid === cid)!.status)
}

async function withBlock(value: number, profile: 'ideal' | 'sn740' = 'ideal'): Promise<TestHost> {
  const host = await ready({ profile })
  await writeMarked(host, 0, [value])
  return host
}

describe('Compare and Write, a fused operation (Base 2.1 §3.4.2, NVM 1.2 §2.1.3)', () => {
  it.each(['ideal', 'sn740'] as const)('writes if the Compare succeeds, on %s', async (profile) => {
    const host = await withBlock(1, profile)
    expect(await together(host, [half(host, FIRST, 0x05, 1), half(host, SECOND, 0x01, 2)])).toEqual([SUCCESS, SUCCESS])
    expect(await readMarked(host, 0, 1)).toEqual([2])
  })

  it('aborts the Write if the Compare fails, and keeps the block', async () => {
    const host = await withBlock(1)
    const statuses = await together(host, [half(host, FIRST, 0x05, 7), half(host, SECOND, 0x01, 2)])
    expect(statuses).toEqual([COMPARE_FAILURE, FAILED_FUSED])
    expect(await readMarked(host, 0, 1)).toEqual([1])
  })

  it('aborts the Write if the Compare is invalid, but not the Compare if the Write is invalid', async () => {
    const host = await withBlock(1)
    const bad = await together(host, [half(host, FIRST, 0x05, 1, END), half(host, SECOND, 0x01, 2, END)])
    expect(bad).toEqual([LBA_OUT_OF_RANGE, FAILED_FUSED])
    const late = await together(host, [half(host, FIRST, 0x05, 1), half(host, SECOND, 0x01, 2, END)])
    expect(late).toEqual([SUCCESS, LBA_OUT_OF_RANGE])
  })

  it.each([
    ['different SLBAs', 1, 1],
    ['different lengths', 0, 2],
  ])('rejects both commands with %s', async (_, slba, blocks) => {
    const host = await withBlock(1)
    const statuses = await together(host, [half(host, FIRST, 0x05, 1), half(host, SECOND, 0x01, 2, slba, blocks)])
    expect(statuses).toEqual([INVALID_FIELD, INVALID_FIELD])
    expect(await readMarked(host, 0, 2)).toEqual([1, 0])
  })

  it.each([
    ['Read and Write', 0x02, 0x01],
    ['Compare and Compare', 0x05, 0x05],
    ['Write and Compare', 0x01, 0x05],
  ])('rejects %s, which cannot be fused', async (_, one, other) => {
    const host = await withBlock(1)
    const statuses = await together(host, [half(host, FIRST, one, 1), half(host, SECOND, other, 2)])
    expect(statuses).toEqual([INVALID_FIELD, INVALID_FIELD])
  })

  it('aborts a half without its adjacent other half (Missing Fused Command), and executes other commands', async () => {
    const host = await withBlock(1)
    const entries = [
      half(host, SECOND, 0x01, 9),
      half(host, FIRST, 0x05, 1),
      half(host, 0, 0x02, 0),
      half(host, FIRST, 0x05, 1),
      half(host, FIRST, 0x05, 1),
      half(host, SECOND, 0x01, 3),
      half(host, FIRST, 0x05, 1),
    ]
    expect(await together(host, entries)).toEqual([
      MISSING_FUSED,
      MISSING_FUSED,
      SUCCESS,
      MISSING_FUSED,
      SUCCESS,
      SUCCESS,
      // The other half of the last one is not yet submitted.
      MISSING_FUSED,
    ])
    expect(await readMarked(host, 0, 1)).toEqual([3])
  })

  it('FUSE 11b is reserved', async () => {
    const host = await withBlock(1)
    expect(await together(host, [half(host, 3 << 8, 0x05, 1)])).toEqual([INVALID_FIELD])
  })

  it('may use the last and first slot of a queue, and is not interleaved with other queues', async () => {
    const host = await enabled()
    await host.createPair(1, 4)
    await host.createPair(2, 8)
    await writeMarked(host, 0, [1])
    for (let i = 0; i < 2; i++) await host.command(1, { opcode: 0, nsid: 1 })
    for (let i = 0; i < 6; i++) host.stage(2, half(host, 0, 0x01, 8, 5))
    host.ringTail(2)
    expect(await together(host, [half(host, FIRST, 0x05, 1), half(host, SECOND, 0x01, 2)])).toEqual([SUCCESS, SUCCESS])
    expect(await readMarked(host, 0, 1)).toEqual([2])
  })

  it('completes with a single command slot', async () => {
    const { deriveProfile } = await import('../index.js')
    const host = await ready({ profile: deriveProfile('ideal', { commandSlots: 1 }) })
    const entries = Array.from({ length: 10 }, (_, i) =>
      half(host, i % 2 === 0 ? FIRST : SECOND, i % 2 === 0 ? 0x05 : 0x01, i >> 1),
    )
    const statuses = await together(host, entries)
    expect(statuses).toEqual(
      Array.from({ length: 10 }, (_, i) => (i < 2 ? SUCCESS : i % 2 === 0 ? COMPARE_FAILURE : FAILED_FUSED)),
    )
  })

  it.each([
    ['the Compare', 0, FAILED_FUSED],
    ['the Write', 1, SUCCESS],
  ])('completes both commands after an Abort of %s', async (_, aborted, expected) => {
    const host = await withBlock(1, 'sn740')
    const entries = [half(host, FIRST, 0x05, 1), half(host, SECOND, 0x01, 2)]
    const cids = entries.map((entry) => host.stage(1, entry))
    host.ringTail(1)
    await host.pass(3_000)
    const abort = await host.admin({ opcode: 0x08, cdw: { 10: 1 | (cids[aborted]! << 16) } })
    expect(abort).toMatchObject({ status: SUCCESS, dw0: 0 })
    const completions = await host.collect(1, 2)
    expect(completions.find(({ cid }) => cid === cids[aborted])!.status).toBe('0/07')
    expect(completions.find(({ cid }) => cid === cids[1 - aborted])!.status).toBe(expected)
    await host.pass(1e9)
    expect(host.poll(1)).toEqual([])
    expect(await readMarked(host, 0, 1)).toEqual([1])
  })

  it('is atomic: one of two operations with the same expected block fails', async () => {
    const host = await enabled({ profile: 'sn740' })
    await host.createPair(1, 64)
    await host.createPair(2, 64)
    await writeMarked(host, 0, [1])
    const statuses = await Promise.all(
      [1, 2].map(async (qid) => {
        const cids = [half(host, FIRST, 0x05, 1), half(host, SECOND, 0x01, 1 + qid)].map((each) =>
          host.stage(qid, each),
        )
        host.ringTail(qid)
        const completions = await host.collect(qid, 2)
        return cids.map((cid) => completions.find((each) => each.cid === cid)!.status).join()
      }),
    )
    expect(statuses.toSorted()).toEqual([`${SUCCESS},${SUCCESS}`, `${COMPARE_FAILURE},${FAILED_FUSED}`])
    expect(await readMarked(host, 0, 1)).toEqual([statuses[0] === `${SUCCESS},${SUCCESS}` ? 2 : 3])
  })

  it('is reported by Identify Controller: FUSES bit 0, AWUN and ACWU 65,536 blocks, AWUPF one', async () => {
    const host = await ready()
    const data = host.alloc(4096)
    await host.admin({ opcode: 0x06, prp1: data.iovaAt(0), cdw: { 10: 1 } })
    const { view } = data
    const fields = [522, 526, 528, 532].map((offset) => view.getUint16(offset, true))
    expect(fields).toEqual([1, 0xffff, 0, 0xffff])
  })
})
