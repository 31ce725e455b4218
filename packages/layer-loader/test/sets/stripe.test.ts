import { describe, expect, test } from 'vitest'
import { openImage, streamLayers } from '../../src/index.js'
import { pack, verifyImage } from '../../src/image/index.js'
import { createStripe, openSet } from '../../src/sets/index.js'
import { layeredModel, tensorBytes } from '../models.js'
import { drives, get, MIB, noise, put } from './drives.js'

describe('a stripe', () => {
  test('returns the written bytes at any offset and length', async () => {
    const stores = (await drives([{}, {}, {}])).map(({ store }) => store)
    const set = await createStripe(stores, { unitBytes: 8192, weights: [2, 1, 1] })
    const content = noise(300 * 512)
    await put(set, 3 * 512, content)
    expect(Buffer.compare(await get(set, 3 * 512, content.length), content)).toBe(0)
    expect(Buffer.compare(await get(set, 40 * 512, 5 * 512), content.subarray(37 * 512, 42 * 512))).toBe(0)
    const again = await openSet([stores[2]!, stores[0]!, stores[1]!])
    expect(Buffer.compare(await get(again, 3 * 512, content.length), content)).toBe(0)
    expect(again).toMatchObject({ kind: 'stripe', name: 'stripe of 3', setId: set.setId, degraded: false })
    expect(again.members.map(({ weight }) => weight)).toEqual([2, 1, 1])
  })

  test('a stripe has the largest block size of its members, and a capacity by their weights', async () => {
    const [one, other] = await drives([{ capacityBytes: 8 * MIB }, { capacityBytes: 16 * MIB, blockBytes: 4096 }])
    const set = await createStripe([one!.store, other!.store], { weights: [1, 2] })
    // The members have 6 and 14 units after the labels: six rounds of three, and one more until the first is full.
    expect([set.blockBytes, set.capacityBytes]).toEqual([4096, 19 * MIB])
    await expect(get(set, 512, 4096)).rejects.toThrow('expected whole blocks of 4096 bytes')
    await expect(get(set, 19 * MIB, 4096)).rejects.toThrow('expected a range inside 0 to')
  })

  test('reads from all members concurrently, and reports the bytes of each', async () => {
    const [one, other] = await drives([{ profile: 'sn740' }, { profile: 'sn740', seed: 2 }])
    const set = await createStripe([one!.store, other!.store])
    const memory = set.dma.alloc(16 * MIB)
    const both = await set.read([{ offsetBytes: 0, lengthBytes: 16 * MIB, memoryBytes: 0 }], memory)
    const alone = await one!.store.read([{ offsetBytes: 0, lengthBytes: 16 * MIB, memoryBytes: 0 }], memory)
    expect(both.devices).toEqual([
      { name: 'member 0 (namespace 1)', bytes: 8 * MIB, commands: 8 },
      { name: 'member 1 (namespace 1)', bytes: 8 * MIB, commands: 8 },
    ])
    expect(both).toMatchObject({ bytes: 16 * MIB, commands: 16 })
    expect((alone.endNs - alone.startNs) / (both.endNs - both.startNs)).toBeGreaterThan(1.8)
    expect(set.statistics.readBytes.map((bytes) => bytes >= 8 * MIB)).toEqual([true, true])
    memory.free()
  })

  test('locates bytes by member, and names the member that cannot be read', async () => {
    // Unit 1 of the set is the first of member 1, at LBA 4096.
    const status = { kind: 'status', sct: 2, sc: 0x81 } as const // Unrecovered Read Error
    const [one, other] = await drives([
      {},
      { faults: { rules: [{ match: { opcode: 2, lba: [4100, 4100] }, action: status }] } },
    ])
    const set = await createStripe([one!.store, other!.store])
    expect(set.locate(MIB - 512, 1024)).toBe(
      'member 0: NSID 1  LBA 0x17ff to 0x17ff; member 1: NSID 1  LBA 0x1000 to 0x1000',
    )
    await expect(get(set, 0, 2 * MIB)).rejects.toMatchObject({
      code: 'ERR_GPUNVME_SET_MEMBER',
      member: 1,
      category: 'device',
    })
    await expect(get(set, 0, 2 * MIB)).rejects.toThrow(
      /^stripe of 2: member 1 \(namespace 1\) failed to read\n {2}Read failed: Unrecovered Read Error/,
    )
    // Blocks of the other member are still readable.
    expect((await get(set, 0, MIB)).length).toBe(MIB)
    expect(set.problems).toEqual([])
  })

  test('stores an image that is verified and streamed byte-identical', async () => {
    const stores = (await drives([{ profile: 'sn740' }, { profile: '990pro' }, { profile: 'sn740', seed: 2 }])).map(
      ({ store }) => store,
    )
    const set = await createStripe(stores, { weights: [1, 2, 1] })
    const model = await layeredModel(5, 3 * MIB)
    await pack(model, set)
    const again = await openSet(stores.toReversed())
    expect(await verifyImage(again)).toMatchObject({ ok: true })
    for await (using lease of streamLayers((await openImage(again)).model())) {
      for (const { name } of lease.tensors) {
        expect(Buffer.compare(lease.tensor(name), await tensorBytes(model, name)), name).toBe(0)
      }
    }
    expect(Math.min(...again.statistics.readBytes)).toBeGreaterThan(2 * MIB)
  })

  test('a stripe that loses a member during a read names it after all reads in flight ended', async () => {
    const removal = {
      match: { opcode: 2, lba: [4096 + 4 * 2048, 4096 + 5 * 2048] },
      action: { kind: 'remove-device' },
    } as const
    const [one, other] = await drives([{ profile: 'sn740' }, { profile: 'sn740', faults: { rules: [removal] } }])
    const set = await createStripe([one!.store, other!.store])
    const memory = set.dma.alloc(16 * MIB)
    const whole = { offsetBytes: 0, lengthBytes: 16 * MIB, memoryBytes: 0 }
    const error: unknown = await set.read([whole], memory).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'ERR_GPUNVME_SET_MEMBER', member: 1, category: 'device' })
    expect(String(error)).toMatch(
      /member 1 \(namespace 1\) failed to read[^]*registers? reads? all ones[^]*Try: a stripe has one copy of each byte/,
    )
    // Member 0 has no read in flight to this memory. Member 1 may have, and prevents its reuse.
    const { ioCommands } = one!.simulation.statistics
    memory.free()
    await one!.simulation.clock.idle(one!.simulation.clock.now() + 1e9)
    expect(one!.simulation.statistics.ioCommands).toEqual(ioCommands)
    expect([...one!.simulation.diagnostics, ...other!.simulation.diagnostics]).toEqual([])
    await expect(get(set, 0, 2 * MIB)).rejects.toMatchObject({ member: 1 })
    expect((await get(set, 0, MIB)).length).toBe(MIB)
    expect(set.problems[0]).toMatchObject({ kind: 'lost', member: 1 })
  })

  test('rejects an aborted read with the reason of its signal', async () => {
    const stores = (await drives([{ profile: 'sn740' }, { profile: 'sn740' }])).map(({ store }) => store)
    const set = await createStripe(stores)
    const memory = set.dma.alloc(24 * MIB)
    const aborting = new AbortController()
    const reading = set.read([{ offsetBytes: 0, lengthBytes: 24 * MIB, memoryBytes: 0 }], memory, aborting)
    aborting.abort('enough')
    await expect(reading).rejects.toBe('enough')
    memory.free()
    expect(set.problems).toEqual([])
  })
})
