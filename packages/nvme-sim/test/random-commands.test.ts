import fc from 'fast-check'
import { expect, it } from 'vitest'
import { bytesOf, TestHost } from './host.js'

const CANARY = 0xc5
const DATA_BYTES = 64 * 1024

/** A dword of an entry: anything, with a taste for small numbers, which reach further into the handlers. */
const dword = fc.oneof(fc.nat(255), fc.integer({ min: 0, max: 0xffff_ffff }))

const command = fc.record({
  toAdmin: fc.boolean(),
  opcode: fc.oneof(fc.nat(255), fc.constantFrom(0, 1, 2)),
  cdw0: fc.oneof(
    fc.constant(0),
    fc.nat(255).map((bits) => bits << 8),
  ),
  nsid: fc.oneof(fc.constantFrom(0, 1, 2, 3, 0xffff_ffff), dword),
  /** Addresses by where they lead: into the data, close by, or anywhere. */
  prp1: fc.tuple(fc.constantFrom('data', 'list', 'wild'), fc.nat(DATA_BYTES + 8192)),
  prp2: fc.tuple(fc.constantFrom('data', 'list', 'wild'), fc.nat(DATA_BYTES + 8192)),
  aligned: fc.boolean(),
  cdw: fc.array(dword, { minLength: 6, maxLength: 6 }),
})

type Command = typeof command extends fc.Arbitrary<infer T> ? T : never

async function run(commands: readonly Command[], fragmented: boolean): Promise<void> {
  const host = new TestHost({ fragmented, namespaces: [{ nsid: 1 }, { nsid: 3, blockBytes: 4096 }] })
  const canaries = [host.alloc(8192)]
  await host.enable({ entries: 64 })
  await host.createPair(1, 64)
  const data = host.alloc(DATA_BYTES)
  canaries.push(host.alloc(8192))
  const list = host.alloc(4096)
  canaries.push(host.alloc(8192))
  for (const canary of canaries) bytesOf(canary).fill(CANARY)

  const address = ([where, offset]: readonly [string, number], aligned: boolean) => {
    const at = aligned ? offset - (offset % 4096) : offset
    if (where === 'data') return at < DATA_BYTES ? data.iovaAt(at) : data.iovaAt(DATA_BYTES - 4096) + at
    if (where === 'list') return list.iovaAt(0) + (offset % 64) * 8
    // Where no memory can be: below its first address, or far above its last one.
    return offset % 2 === 0 ? offset * 0x1001 : 2 ** 48 + offset * 0x1001
  }
  for (let i = 0; i < 512; i++) list.view!.setBigUint64(i * 8, BigInt(data.iovaAt((i % 16) * 4096)), true)

  for (const each of commands) {
    // Requests for events are held by design, and a deleted queue pair answers nothing: those are tested elsewhere.
    const isHeld = each.toAdmin && each.opcode === 0x0c
    const deletes = each.toAdmin && (each.opcode === 0x00 || each.opcode === 0x04)
    if (isHeld || deletes) continue
    const [prp1, prp2] = [address(each.prp1, each.aligned), address(each.prp2, each.aligned)]
    const cdw = Object.fromEntries([[0, each.cdw0], ...each.cdw.map((value, i) => [10 + i, value])]) as Record<
      number,
      number
    >
    const qid = each.toAdmin ? 0 : 1
    const cid = host.submit(qid, { opcode: each.opcode, nsid: each.nsid, prp1, prp2, cdw })
    await host.pass(1000)
    const completions = host.poll(qid)
    expect(completions.map((completed) => completed.cid)).toEqual([cid])
    expect(host.bar.read32(0x1c)).toBe(1)
  }
  await host.pass(1e9)
  expect([...host.poll(0), ...host.poll(1)]).toEqual([])
  for (const canary of canaries) expect(bytesOf(canary).every((byte) => byte === CANARY)).toBe(true)
}

it('any entry gets exactly one completion, and no byte outside of what it names is touched', async () => {
  const property = fc.asyncProperty(fc.array(command, { maxLength: 30 }), fc.boolean(), run)
  await fc.assert(property, { numRuns: 300 })
})
