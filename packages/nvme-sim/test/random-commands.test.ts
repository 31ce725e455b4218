import fc from 'fast-check'
import { expect, it } from 'vitest'
import { bytesOf, TestHost } from './host.js'

const CANARY = 0xc5
const DATA_BYTES = 64 * 1024

/** A dword of an entry: any value, but often a small one, which fewer checks reject. */
const dword = fc.oneof(fc.nat(255), fc.integer({ min: 0, max: 0xffff_ffff }))

/** An address, by its target: the data, PRP lists, SGL segments, or anything. */
const address = fc.tuple(fc.constantFrom('data', 'list', 'sgl', 'wild'), fc.nat(DATA_BYTES + 8192))

/** An SGL descriptor of any type and subtype, but often a valid one. */
const descriptor = fc.record({
  address,
  length: fc.oneof(fc.constantFrom(0, 16, 32, 512, 4096, DATA_BYTES), dword),
  type: fc.oneof(fc.constantFrom(0x00, 0x00, 0x10, 0x20, 0x30), fc.nat(255)),
})

const command = fc.record({
  toAdmin: fc.boolean(),
  opcode: fc.oneof(
    fc.nat(255),
    fc.constantFrom(0, 1, 2, 4, 5, 8, 9, 0x0c, 0x19),
    fc.constantFrom(0x06, 0x0d, 0x15, 0x80),
  ),
  /** CDW0 bits 15:8: FUSE, reserved bits and PSDT. */
  cdw0: fc.oneof(
    fc.constant(0),
    fc.constantFrom(1 << 14, 2 << 14),
    fc.nat(255).map((bits) => bits << 8),
  ),
  nsid: fc.oneof(fc.constantFrom(0, 1, 2, 3, 4, 5, 0xffff_ffff), dword),
  mptr: address,
  prp1: address,
  prp2: address,
  sgl1: descriptor,
  aligned: fc.boolean(),
  cdw: fc.array(dword, { minLength: 6, maxLength: 6 }),
})

type Command = typeof command extends fc.Arbitrary<infer T> ? T : never
type Descriptor = typeof descriptor extends fc.Arbitrary<infer T> ? T : never

/** Namespaces with 512 and 4096-byte blocks, and with separate and interleaved metadata. */
const namespaces = [
  { nsid: 1 },
  { nsid: 3, blockBytes: 4096 },
  { nsid: 4, metadataBytes: 8, capacityBytes: 1 << 20 },
  { nsid: 5, blockBytes: 4096, metadataBytes: 64, extendedLba: true, capacityBytes: 1 << 20 },
] as const

async function run(
  commands: readonly Command[],
  descriptors: readonly Descriptor[],
  fragmented: boolean,
): Promise<void> {
  const host = new TestHost({ fragmented, namespaces, spareCapacityBytes: 1 << 20 })
  const canaries = [host.alloc(8192)]
  await host.enable({ sqEntries: 64 })
  await host.createPair(1, 64)
  const data = host.alloc(DATA_BYTES)
  canaries.push(host.alloc(8192))
  const list = host.alloc(4096)
  const segments = host.alloc(4096)
  canaries.push(host.alloc(8192))
  for (const canary of canaries) bytesOf(canary).fill(CANARY)

  const addressOf = ([where, offset]: readonly [string, number], aligned: boolean) => {
    const at = aligned ? offset - (offset % 4096) : offset
    if (where === 'data') return at < DATA_BYTES ? data.iovaAt(at) : data.iovaAt(DATA_BYTES - 4096) + at
    if (where === 'list') return list.iovaAt(0) + (offset % 64) * 8
    if (where === 'sgl') return segments.iovaAt(0) + (offset % 64) * (aligned ? 16 : 4)
    // An address without memory: below the first address, or far above the last one.
    return offset % 2 === 0 ? offset * 0x1001 : 2 ** 48 + offset * 0x1001
  }
  const put = (view: DataView, at: number, { address: to, length, type }: Descriptor) => {
    view.setBigUint64(at, BigInt(addressOf(to, true)), true)
    view.setUint32(at + 8, length, true)
    view.setUint32(at + 12, type << 24, true)
  }
  for (let i = 0; i < 512; i++) list.view.setBigUint64(i * 8, BigInt(data.iovaAt((i % 16) * 4096)), true)
  for (let i = 0; i < 256; i++) put(segments.view, i * 16, descriptors[i % descriptors.length]!)

  for (const each of commands) {
    // Asynchronous Event Requests stay outstanding, and a deleted queue pair completes nothing. Other tests cover them.
    const isHeld = each.toAdmin && each.opcode === 0x0c
    const deletes = each.toAdmin && (each.opcode === 0x00 || each.opcode === 0x04)
    // Commands could overwrite shadow doorbells in memory, and so ring them.
    const movesDoorbells = each.toAdmin && each.opcode === 0x7c
    if (isHeld || deletes || movesDoorbells) continue
    const pointer = new DataView(new ArrayBuffer(24))
    pointer.setBigUint64(0, BigInt(addressOf(each.mptr, each.aligned)), true)
    // SGL1 if PSDT selects it; otherwise PRPs.
    if (each.cdw0 >>> 14 !== 0) put(pointer, 8, each.sgl1)
    else {
      pointer.setBigUint64(8, BigInt(addressOf(each.prp1, each.aligned)), true)
      pointer.setBigUint64(16, BigInt(addressOf(each.prp2, each.aligned)), true)
    }
    const pointers = Array.from({ length: 6 }, (_, i): [number, number] => [4 + i, pointer.getUint32(i * 4, true)])
    const dwords = each.cdw.map((value, i): [number, number] => [10 + i, value])
    const cdw = Object.fromEntries([[0, each.cdw0], ...pointers, ...dwords]) as Record<number, number>
    const qid = each.toAdmin ? 0 : 1
    const cid = host.submit(qid, { opcode: each.opcode, nsid: each.nsid, cdw })
    await host.pass(1000)
    const completions = host.poll(qid)
    expect(completions.map((completed) => completed.cid)).toEqual([cid])
    expect(host.bar.read32(0x1c)).toBe(1)
  }
  await host.pass(1e9)
  expect([...host.poll(0), ...host.poll(1)]).toEqual([])
  for (const canary of canaries) expect(bytesOf(canary).every((byte) => byte === CANARY)).toBe(true)
}

it('any entry gets exactly one completion, and no memory outside of its pointers changes', async () => {
  const descriptors = fc.array(descriptor, { minLength: 1, maxLength: 12 })
  const property = fc.asyncProperty(fc.array(command, { maxLength: 30 }), descriptors, fc.boolean(), run)
  await fc.assert(property, { numRuns: 300 })
})

it('each of the 256 opcodes gets exactly one completion, on both queues and for each namespace', async () => {
  const commands = [true, false].flatMap((toAdmin) =>
    Array.from({ length: 256 }, (_, opcode) =>
      [1, 3, 4, 5].map((nsid): Command => {
        const pointer: Command['prp1'] = ['data', 0]
        const sgl1: Descriptor = { address: pointer, length: DATA_BYTES, type: 0 }
        const cdw = [0, 0, 0, 0, 0, 0]
        const cdw0 = toAdmin || opcode % 2 === 0 ? 0 : 1 << 14
        return { toAdmin, opcode, cdw0, nsid, mptr: pointer, prp1: pointer, prp2: pointer, sgl1, aligned: true, cdw }
      }),
    ).flat(),
  )
  await run(commands, [{ address: ['data', 0], length: DATA_BYTES, type: 0 }], false)
})
