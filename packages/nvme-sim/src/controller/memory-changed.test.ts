import { describe, expect, it } from 'vitest'
import { Controller } from './controller.js'
import { Device } from './device.js'
import { Diagnostics } from './diagnostics.js'
import type { MemoryAccess, ReachableMemory } from '../memory/reachable.js'
import { Namespaces } from '../nvm/namespaces.js'
import { profiles } from '../profiles/index.js'
import { CompletionQueue, SubmissionQueue } from '../queues/queue.js'
import { ShadowDoorbells } from '../queues/shadow-doorbells.js'
import { VirtualClock } from '../time/clock.js'

/** Memory of regions that a test maps, unmaps and replaces. */
class MappedMemory implements ReachableMemory {
  readonly regions = new Map<number, { readonly bytes: Uint8Array; readonly writable: boolean }>()

  map(iova: number, writable = true, lengthBytes = 4096): Uint8Array {
    const bytes = new Uint8Array(lengthBytes)
    this.regions.set(iova, { bytes, writable })
    return bytes
  }

  bytes(iova: number, lengthBytes: number, access: MemoryAccess = 'read'): Uint8Array | undefined {
    for (const [first, { bytes, writable }] of this.regions) {
      if (iova < first || iova + lengthBytes > first + bytes.length) continue
      return access === 'write' && !writable ? undefined : bytes.subarray(iova - first, iova - first + lengthBytes)
    }
    return undefined
  }

  pieces(iova: number, lengthBytes: number, access?: MemoryAccess): readonly Uint8Array[] | undefined {
    const bytes = this.bytes(iova, lengthBytes, access)
    return bytes && [bytes]
  }

  has(iova: number, lengthBytes: number, access?: MemoryAccess): boolean {
    return this.bytes(iova, lengthBytes, access) !== undefined
  }

  explainUnmapped(): string {
    return 'no memory there'
  }
}

const CSTS = 0x1c

function withController() {
  const [memory, clock] = [new MappedMemory(), new VirtualClock()]
  const device = new Device({
    ...{ clock, memory, namespaces: new Namespaces([{}]), profile: profiles.ideal },
    ...{ diagnostics: new Diagnostics(clock), faults: undefined, seed: 1, trace: undefined },
  })
  return { memory, clock, device, controller: new Controller(device) }
}

/** A controller with one queue pair, its submission queue at 0 and its completion queue at 4096. */
function withPair() {
  const { memory, device } = withController()
  const [sqBytes, cqBytes] = [memory.map(0), memory.map(4096)]
  const cq = new CompletionQueue(1, 4, 4096, [cqBytes])
  const sq = new SubmissionQueue(1, 4, 0, [sqBytes], cq)
  device.queues.addCq(cq)
  device.queues.addSq(sq)
  const post = () => cq.post({ sq, cid: 7, status: 0, dw0: 0xabcd, dw1: 0, fetchedNs: 0 })
  return { memory, device, sq, cq, sqBytes, cqBytes, post }
}

describe('memoryChanged()', () => {
  it('makes the queues use the memory that is now mapped', () => {
    const { memory, device, sq, sqBytes, cqBytes, post } = withPair()
    const moved = { sq: memory.map(0), cq: memory.map(4096) }
    device.memoryChanged()
    sqBytes[0] = 1
    moved.sq[0] = 2
    const entry = new Uint32Array(16)
    sq.take(entry)
    expect(entry[0]).toBe(2)
    post()
    expect(moved.cq.subarray(0, 2)).toEqual(Uint8Array.of(0xcd, 0xab))
    expect(cqBytes.every((byte) => byte === 0)).toBe(true)
  })

  it('finds the memory of a queue again after it was unmapped', () => {
    const { memory, device, sq, sqBytes } = withPair()
    memory.regions.delete(0)
    device.memoryChanged()
    sqBytes[0] = 1
    memory.map(0)[0] = 3
    device.memoryChanged()
    const entry = new Uint32Array(16)
    sq.take(entry)
    expect(entry[0]).toBe(3)
  })

  it('does not make a completion queue use read-only memory', () => {
    const { memory, device, post } = withPair()
    const readOnly = memory.map(4096, false)
    device.memoryChanged()
    post()
    expect(readOnly.every((byte) => byte === 0)).toBe(true)
    expect(memory.has(4096, 64, 'write')).toBe(false)
  })

  it('makes shadow doorbells use the memory that is now mapped', () => {
    const { memory, device, sq } = withPair()
    memory.map(8192)
    memory.map(12288)
    const lost: number[] = []
    const shadow = new ShadowDoorbells(memory, [8192, 12288], 4096, 0, {
      seen: () => undefined,
      mistaken: () => undefined,
      lost: (iova) => lost.push(iova),
    })
    device.shadow = shadow
    shadow.attach(sq)
    const [doorbells, events] = [memory.map(8192), memory.map(12288)]
    device.memoryChanged()
    // SQ 1 is at offset 8 with a stride of 4 (Base 2.1 §5.2.5): one more entry.
    doorbells[8] = 1
    expect(sq.isEligible()).toBe(true)
    expect(sq.tail).toBe(1)
    sq.take(new Uint32Array(16))
    expect(sq.isEligible()).toBe(false)
    expect(events[8]).toBe(1)
    memory.regions.delete(8192)
    device.memoryChanged()
    expect(sq.isEligible()).toBe(false)
    expect(lost).toContain(8192)
  })

  it('makes the controller fail instead of fetching from a partly unmapped queue', async () => {
    const { memory, device, clock, controller } = withController()
    // 128 entries in two pages, followed by the completion queue.
    const old = memory.map(0, true, 8192)
    memory.map(8192)
    // AQA, ASQ, ACQ, CC.
    const registers = [
      [0x24, 0x003f_007f],
      [0x28, 0],
      [0x2c, 0],
      [0x30, 8192],
      [0x34, 0],
      [0x14, 0x0046_0001],
    ] as const
    for (const [offset, value] of registers) controller.write32(offset, value)
    await clock.idle(1e9)
    expect(controller.read32(CSTS)).toBe(1)
    // Two Get Features commands: CID 1111h in the old memory, 2222h in the new.
    new DataView(old.buffer).setUint32(0, 0x1111_000a, true)
    memory.regions.delete(0)
    new DataView(memory.map(0).buffer).setUint32(0, 0x2222_000a, true)
    device.memoryChanged()
    controller.write32(0x1000, 1)
    await clock.idle(2e9)
    expect(controller.read32(CSTS)).toBe(3)
    expect(memory.bytes(8192, 16)).toEqual(new Uint8Array(16))
    expect(device.diagnostics.entries.at(-1)?.text).toContain('SQ 0: its memory at 0x0 is no longer mapped')
  })
})
