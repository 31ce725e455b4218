import { describe, expect, test } from 'vitest'
import { SimulatedHost } from '@gpunvme/nvme-sim'
import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import { createMirror, createStripe, type BlockSet } from '../../src/sets/index.js'
import { drive, get, MIB, noise, put } from './drives.js'

/** Opens two drives that cannot access each other's memory, as behind separate IOMMUs. */
const apart = async () => Promise.all([drive({}, new SimulatedHost()), drive({}, new SimulatedHost())])

describe('drives that cannot access each other’s memory', () => {
  test.each([
    ['stripe', createStripe],
    ['mirror', createMirror],
  ] as const)('can form a %s: transfers of the second are copied and counted as bounced', async (_, create) => {
    const members = await apart()
    const set: BlockSet = await create(members.map(({ store }) => store))
    expect(set.members.map(({ bounced }) => bounced)).toEqual([false, true])
    const content = noise(6 * MIB)
    await put(set as Awaited<ReturnType<typeof create>>, 0, content)
    const before = set.statistics.bouncedBytes
    const memory = set.dma.alloc(content.length)
    const { devices, bytes } = await set.read([{ offsetBytes: 0, lengthBytes: content.length, memoryBytes: 0 }], memory)
    expect(Buffer.compare(new Uint8Array(memory.view!.buffer, memory.view!.byteOffset, bytes), content)).toBe(0)
    memory.free()
    const second = devices!.find(({ name }) => name.startsWith('member 1'))!
    expect(second.bouncedBytes).toBe(second.bytes)
    expect(set.statistics.bouncedBytes - before).toBe(second.bytes)
    expect(devices!.find(({ name }) => name.startsWith('member 0'))).not.toHaveProperty('bouncedBytes')
    expect(members.flatMap(({ simulation }) => simulation.diagnostics)).toEqual([])
  })

  test('drives cannot read into each other’s memory if the host cannot access it either', async () => {
    const [one, other] = await apart()
    const set = await createStripe([one.store, other.store])
    const nothing = () => undefined
    const hidden: DmaMemory = {
      lengthBytes: 2 * MIB,
      segments: [{ offsetBytes: 0, iova: 0, lengthBytes: 2 * MIB }],
      iovaAt: (offsetBytes) => offsetBytes,
      forDevice: nothing,
      forHost: nothing,
      free: nothing,
    }
    await expect(set.read([{ offsetBytes: MIB, lengthBytes: MIB, memoryBytes: 0 }], hidden)).rejects.toMatchObject({
      code: 'ERR_GPUNVME_SET_MEMBER',
      cause: { code: 'ERR_GPUNVME_MEMORY_OUT_OF_REACH' },
    })
  })

  test('drives of one host do not bounce transfers', async () => {
    const host = new SimulatedHost()
    const members = await Promise.all([drive({}, host), drive({}, host)])
    const set = await createStripe(members.map(({ store }) => store))
    await get(set, 0, 4 * MIB)
    expect([set.members.map(({ bounced }) => bounced), set.statistics.bouncedBytes]).toEqual([[false, false], 0])
  })
})
