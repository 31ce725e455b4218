import fc from 'fast-check'
import { crc32 } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { RamMedia } from '@gpunvme/nvme-sim'
import { encodeLabel, LABELS, type SetLabel } from '../../src/sets/label.js'
import { openImage } from '../../src/index.js'
import { pack, verifyImage } from '../../src/image/index.js'
import type { WritableBlockStore } from '../../src/store/index.js'
import {
  createMirror,
  createStripe,
  eraseSet,
  findUses,
  openSet,
  rebuildMirror,
  SET_LABEL,
} from '../../src/sets/index.js'
import { smallModel } from '../models.js'
import { drive, drives, get, MIB, noise, put, storesOn } from './drives.js'

const LABEL: SetLabel = {
  setId: '000102030405060708090a0b0c0d0e0f',
  kind: 'stripe',
  members: 2,
  index: 1,
  epoch: 1,
  current: 3,
  unitBytes: 1 << 20,
  pattern: Uint8Array.of(0, 0, 1),
  dataBytes: 4 << 20,
  setBytes: 12 << 20,
  writer: 'test',
}

const storesOf = async (count: number): Promise<WritableBlockStore[]> =>
  (await drives(Array.from({ length: count }, () => ({})))).map(({ store }) => store)

describe('a label', () => {
  test('a label has its fields at the offsets of docs/sets-1.md', () => {
    const encoded = encodeLabel('B', LABEL)
    const view = new DataView(encoded.buffer)
    const u32 = (at: number) => view.getUint32(at, true)
    expect(Buffer.from(encoded.subarray(0, 8)).toString('latin1')).toBe('GPUNVSET')
    expect([8, 12, 16, 40, 44, 48, 56, 60, 64, 68, 72, 76, 80, 88, 96].map(u32)).toEqual([
      1, 4096, 1, 0, 0, 0x10_0000, 1, 2, 1, 3, 0x10_0000, 3, 0x20_0000, 0x40_0000, 0xc0_0000,
    ])
    expect(Buffer.from(encoded.subarray(24, 40)).toString('hex')).toBe(LABEL.setId)
    expect([...encoded.subarray(192, 196)]).toEqual([0, 0, 1, 0])
    expect(u32(4092)).toBe(crc32(encoded.subarray(0, 4092)))
    // The offset of the boot signature of a partition table is zero.
    expect([...encoded.subarray(508, 512)]).toEqual([0, 0, 0, 0])
    expect(LABELS.decode('B', encoded)).toEqual(LABEL)
  })

  test('a label with any flipped bit is rejected as damaged', () => {
    const encoded = encodeLabel('A', LABEL)
    fc.assert(
      fc.property(fc.nat(4096 * 8 - 1), (bit) => {
        const damaged = encoded.slice()
        damaged[bit >> 3]! ^= 1 << (bit & 7)
        expect(() => LABELS.decode('A', damaged)).toThrow('The label of a set’s member is damaged'.replace('’', "'"))
      }),
    )
  })

  test('a label of random bytes with a matching checksum is rejected or has consistent fields', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 200, maxLength: 440 }), (random) => {
        const encoded = encodeLabel('A', LABEL)
        encoded.set(random.subarray(0, 4), 16 + (random[4]! % 90))
        encoded.set(random.subarray(5), 192)
        new DataView(encoded.buffer).setUint32(4092, crc32(encoded.subarray(0, 4092)), true)
        try {
          const { members, index, pattern, dataBytes, setBytes } = LABELS.decode('A', encoded)
          expect(index).toBeLessThan(members)
          expect(Math.max(...pattern)).toBeLessThan(members)
          expect([dataBytes % 4096, setBytes % 4096]).toEqual([0, 0])
        } catch (error) {
          expect(error).toMatchObject({
            code: expect.stringMatching(/^ERR_GPUNVME_SET_(LABEL|UNSUPPORTED)$/) as string,
          })
        }
      }),
    )
  })

  test.each([
    ['a later version', 'VERSION', 2, 'ERR_GPUNVME_SET_UNSUPPORTED'],
    ['an unknown required feature', 'REQUIRED', 4, 'ERR_GPUNVME_SET_UNSUPPORTED'],
    ['one member', 'MEMBERS', 1, 'ERR_GPUNVME_SET_LABEL'],
    ['too many members', 'MEMBERS', 17, 'ERR_GPUNVME_SET_LABEL'],
    ['an index beyond the members', 'INDEX', 2, 'ERR_GPUNVME_SET_LABEL'],
    ['an unknown kind', 'KIND', 3, 'ERR_GPUNVME_SET_LABEL'],
    ['a unit that is not a power of two', 'UNIT', 12288, 'ERR_GPUNVME_SET_LABEL'],
    ['a pattern without one of the members', 'PATTERN_LENGTH', 2, 'ERR_GPUNVME_SET_LABEL'],
    ['a pattern that is too long', 'PATTERN_LENGTH', 257, 'ERR_GPUNVME_SET_LABEL'],
    ['no data', 'DATA_LENGTH', 0, 'ERR_GPUNVME_SET_LABEL'],
    ['a data length that is not a multiple of the unit', 'DATA_LENGTH', 4096, 'ERR_GPUNVME_SET_LABEL'],
    ['a stripe without all members current', 'CURRENT', 2, 'ERR_GPUNVME_SET_LABEL'],
  ] as const)('with %s is rejected', (_, field, value, code) => {
    const encoded = encodeLabel('A', LABEL)
    const view = SET_LABEL.view(new DataView(encoded.buffer))
    view[field] = value
    view.CRC = crc32(encoded.subarray(0, 4092))
    expect(() => LABELS.decode('A', encoded)).toThrow(expect.objectContaining({ code }) as Error)
  })
})

describe('openSet rejects', () => {
  test('a stripe with a missing member, and names it', async () => {
    const stores = await storesOf(3)
    await createStripe(stores)
    await expect(openSet([stores[2]!, stores[0]!])).rejects.toMatchObject({
      code: 'ERR_GPUNVME_STRIPE_MEMBER_MISSING',
      message: expect.stringContaining('without member 1') as unknown,
    })
  })

  test('members of different sets', async () => {
    const stores = await storesOf(4)
    await createStripe(stores.slice(0, 2))
    await createMirror(stores.slice(2))
    await expect(openSet([stores[0]!, stores[3]!])).rejects.toMatchObject({ code: 'ERR_GPUNVME_MIXED_SETS' })
  })

  test('a copy of a member beside the member', async () => {
    const media = [new RamMedia(8 * MIB), new RamMedia(8 * MIB)]
    const members = await drives(media.map((each) => ({ media: each })))
    await createMirror(members.map(({ store }) => store))
    const { store: copy } = await drive({ capacityBytes: 8 * MIB })
    await put(copy, 0, await get(members[0]!.store, 0, 4 * MIB))
    const given = [members[0]!.store, copy]
    await expect(openSet(given)).rejects.toMatchObject({
      code: 'ERR_GPUNVME_DUPLICATE_MEMBER',
      headline: 'Two stores are member 0 of this set',
    })
    await expect(openSet([given[0]!, given[0]!])).rejects.toThrow('expected different members')
  })

  test('stores without labels, a truncated member and an empty list', async () => {
    const stores = await storesOf(2)
    await expect(openSet(stores)).rejects.toMatchObject({ code: 'ERR_GPUNVME_NO_SET', category: 'not-found' })
    await createStripe(stores)
    const { store: short } = await drive({ capacityBytes: 8 * MIB })
    await put(short, 0, await get(stores[0]!, 0, 4 * MIB))
    await expect(openSet([short, stores[1]!])).rejects.toMatchObject({ code: 'ERR_GPUNVME_MEMBER_TRUNCATED' })
    await expect(openSet([])).rejects.toThrow('expected a list of members')
  })

  test('members whose labels differ', async () => {
    const stores = await storesOf(2)
    await createStripe(stores)
    const label = LABELS.decode('A', await get(stores[1]!, 0, 4096))
    for (const copy of ['A', 'B'] as const) {
      const other = encodeLabel(copy, { ...label, pattern: Uint8Array.of(1, 0) })
      await put(stores[1]!, copy === 'A' ? 0 : MIB, other)
    }
    await expect(openSet(stores)).rejects.toMatchObject({ code: 'ERR_GPUNVME_SET_LABEL', field: 'PATTERN' })
  })
})

describe('a damaged label', () => {
  test('a damaged label is reported if one copy is valid; otherwise its member is missing', async () => {
    const stores = await storesOf(4)
    const stripe = await createStripe(stores.slice(0, 2))
    await put(stores[0]!, 0, noise(4096))
    await put(stores[1]!, MIB, new Uint8Array(4096).fill(0x47))
    const again = await openSet(stores.slice(0, 2))
    expect(again.setId).toBe(stripe.setId)
    const half = encodeLabel('A', LABEL)
    half[100]! ^= 1
    await put(stores[1]!, 0, half)
    await expect(openSet(stores.slice(0, 2))).rejects.toMatchObject({ code: 'ERR_GPUNVME_STRIPE_MEMBER_MISSING' })

    await createMirror(stores.slice(2))
    await put(stores[2]!, 0, half)
    const whole = await openSet(stores.slice(2))
    expect([whole.degraded, whole.problems.map(({ kind }) => kind)]).toEqual([false, ['label-copy']])
    await put(stores[2]!, MIB, half)
    const mirror = await openSet(stores.slice(2))
    expect(mirror.problems.map(({ kind }) => kind)).toEqual(['label', 'missing'])
    expect(mirror.members.map(({ state }) => state)).toEqual(['missing', 'live'])
  })
})

describe('protection of existing data', () => {
  test('createStripe does not overwrite an image or another set without replace', async () => {
    const stores = await storesOf(3)
    await pack(await smallModel(), stores[1]!)
    await expect(createStripe(stores.slice(0, 2))).rejects.toThrow(
      /is in use; nothing was written\n {2}it has a model image/,
    )
    await createMirror([stores[0]!, stores[2]!])
    await expect(createStripe([stores[2]!, stores[1]!])).rejects.toThrow(/it is member 1 of a mirror of 2/)
    const stripe = await createStripe([stores[2]!, stores[1]!], { replace: true })
    expect(stripe.kind).toBe('stripe')
    // The remaining half of the mirror reports its missing member.
    expect((await openSet([stores[0]!])).problems.map(({ kind }) => kind)).toEqual(['missing'])
  })

  test('pack, openImage and verifyImage reject a member of a set', async () => {
    const stores = await storesOf(2)
    const set = await createStripe(stores)
    await pack(await smallModel(), set)
    for (const refused of [pack(await smallModel(), stores[1]!), openImage(stores[0]!), verifyImage(stores[0]!)]) {
      await expect(refused).rejects.toMatchObject({ code: 'ERR_GPUNVME_MEMBER_OF_SET', category: 'usage' })
    }
    expect(await verifyImage(set)).toMatchObject({ ok: true })
  })

  test('a store that ends inside the label counts as a member', async () => {
    const { store } = await drive({ capacityBytes: 2048 })
    await put(store, 0, encodeLabel('A', LABEL).subarray(0, 2048))
    expect(await findUses([store])).toMatchObject([{ kind: 'member', claimedBytes: 2048 }])
  })

  test('eraseSet makes its members available to a new set', async () => {
    const stores = await storesOf(2)
    await createStripe(stores)
    await eraseSet(stores)
    await expect(openSet(stores)).rejects.toMatchObject({ code: 'ERR_GPUNVME_NO_SET' })
    await createMirror(stores)
  })

  test('a set that replaces another has no image', async () => {
    const stores = await storesOf(2)
    await pack(await smallModel(), await createStripe(stores))
    await pack(await smallModel(), await createStripe(stores, { replace: true }))
  })
})

describe('errors name the invalid argument:', () => {
  test.each([
    ['one member', 1, {}, /expected 2 to 16 members/],
    ['a unit that is not a power of two', 2, { unitBytes: 5000 }, /unitBytes: expected a power of two from 4096/],
    ['too few weights', 2, { weights: [1] }, /weights: expected 2 numbers, got 1/],
    ['a weight of 0', 2, { weights: [1, 0] }, /expected a number above 0 for each member/],
    ['an id that is too short', 2, { setId: new Uint8Array(8) }, /setId: expected 16 bytes, got 8/],
  ])('%s', async (_, count, options, message) => {
    await expect(createStripe(await storesOf(count), options)).rejects.toThrow(message)
  })

  test('rates and stallNs of a mirror', async () => {
    const stores = await storesOf(2)
    await createMirror(stores)
    await expect(openSet(stores, { rates: [1] })).rejects.toThrow('rates: expected 2 numbers above 0')
    await expect(openSet(stores, { stallNs: 0 })).rejects.toThrow('stallNs: expected nanoseconds above 0')
  })
})

test.each([
  ['eraseSet', (stores: WritableBlockStore[]) => eraseSet(stores)],
  ['createMirror', (stores: WritableBlockStore[]) => createMirror(stores, { replace: true })],
  ['rebuildMirror', (stores: WritableBlockStore[]) => rebuildMirror(stores)],
])('%s with a member that was opened for reading is rejected, and no member is changed', async (_, call) => {
  const [one, other] = await storesOn([new RamMedia(32 * MIB), new RamMedia(32 * MIB)])
  await createMirror([one!, other!])
  const before = await get(one!, 0, 4096)
  const { name, blockBytes, capacityBytes, saturationBytes, dma, clock, movesData } = other!
  const readOnly = {
    ...{ name, blockBytes, capacityBytes, saturationBytes, dma, clock, movesData },
    read: (...args: Parameters<WritableBlockStore['read']>) => other!.read(...args),
    locate: () => name,
  } as unknown as WritableBlockStore
  await expect(call([one!, readOnly])).rejects.toMatchObject({ code: 'ERR_GPUNVME_READ_ONLY' })
  expect(Buffer.compare(await get(one!, 0, 4096), before)).toBe(0)
})
