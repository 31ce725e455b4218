import { describe, expect, it } from 'vitest'
import type { Entry } from '../../conformance/raw-host/entry.js'
import { bytesOf, ready, type TestHost } from '../../test/host.js'
import { at, onBlocks, qword } from '../../test/nvm.js'
import type { NamespaceOptions } from '../index.js'

const SUCCESS = '0/00'
const LBA_OUT_OF_RANGE = '0/80'

/** Returns a host whose namespace shrinks to 10 blocks during the `nth` I/O command. */
function shrinking(nth: number, namespace: NamespaceOptions): Promise<TestHost> {
  const action = { kind: 'resize-namespace', nsid: 1, blocks: 10 } as const
  return ready({ namespaces: [namespace], faults: { rules: [{ match: { qid: 1, nth }, action }] } })
}

/** Encodes a Copy (19h) of one block with a Source Range Entry of format 0h. */
function copy(host: TestHost, from: number, to: number): Entry {
  const memory = host.alloc(32)
  memory.view.setBigUint64(8, BigInt(from), true)
  return { opcode: 0x19, nsid: 1, ...at(host, memory), cdw: { 10: to } }
}

/** Encodes a Dataset Management (09h) that deallocates one block. */
function deallocate(host: TestHost, slba: number): Entry {
  const memory = host.alloc(16)
  memory.view.setUint32(4, 1, true)
  memory.view.setBigUint64(8, BigInt(slba), true)
  return { opcode: 0x09, nsid: 1, ...at(host, memory), cdw: { 11: 4 } }
}

describe('a namespace that shrinks (NSZE)', () => {
  it('keeps the data and metadata of its remaining blocks', async () => {
    const host = await shrinking(2, { metadataBytes: 8, capacityBytes: 520 * 100 })
    const [data, metadata] = [host.alloc(512), host.alloc(8)]
    const lastBlock = (opcode: number) =>
      onBlocks(opcode, 9, 1, { ...at(host, data), cdw: qword(4, metadata.iovaAt(0)) })
    bytesOf(data).fill(0x77)
    bytesOf(metadata).fill(0x99)
    expect((await host.command(1, lastBlock(0x01))).status).toBe(SUCCESS)
    bytesOf(data).fill(0)
    bytesOf(metadata).fill(0)
    expect((await host.command(1, lastBlock(0x02))).status).toBe(SUCCESS)
    expect([...bytesOf(metadata, 0, 8)]).toEqual([0x99, 0x99, 0x99, 0x99, 0x99, 0x99, 0x99, 0x99])
    expect(bytesOf(data, 0, 512).every((byte) => byte === 0x77)).toBe(true)
    expect((await host.command(1, onBlocks(0x02, 10, 1))).status).toBe(LBA_OUT_OF_RANGE)
  })

  it.each<[string, (host: TestHost) => Entry]>([
    ['Write', (host) => onBlocks(0x01, 50, 1, at(host, host.alloc(512)))],
    ['Read', (host) => onBlocks(0x02, 9, 2, at(host, host.alloc(1024)))],
    ['Write Zeroes', () => onBlocks(0x08, 99, 1)],
    ['Copy from', (host) => copy(host, 10, 0)],
    ['Copy to', (host) => copy(host, 0, 10)],
    ['Dataset Management', (host) => deallocate(host, 10)],
  ])('ends with LBA Out of Range for a command on removed blocks: %s', async (_, make) => {
    const host = await shrinking(1, { capacityBytes: 512 * 100 })
    expect(await host.command(1, make(host))).toMatchObject({ status: LBA_OUT_OF_RANGE })
    // A command without ranges then reuses the slot of a Copy or Dataset Management.
    expect((await host.command(1, { opcode: 0, nsid: 1 })).status).toBe(SUCCESS)
  })

  it.each<[string, (host: TestHost) => Entry]>([
    ['Write', (host) => onBlocks(0x01, 9, 1, at(host, host.alloc(512)))],
    ['Copy', (host) => copy(host, 8, 9)],
    ['Dataset Management', (host) => deallocate(host, 9)],
  ])('executes a command on its last block: %s', async (_, make) => {
    const host = await shrinking(1, { capacityBytes: 512 * 100 })
    expect((await host.command(1, make(host))).status).toBe(SUCCESS)
  })
})
