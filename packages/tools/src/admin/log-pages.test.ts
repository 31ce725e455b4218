import { IdentifyController, LID, zeroBased } from '@gpunvme/nvme-spec'
import { expect, test } from 'vitest'
import { claim, isClaimed } from './claims.js'
import { nameOfPage, pageNamed, supportedPages, usualBytes } from './log-pages.js'
import type { AdminView } from './view.js'

/** A drive with this Identify Controller, that answers with pages of zeroes but for these. */
function viewOf(values: Parameters<typeof IdentifyController.create>[0], pages: Record<number, string> = {}) {
  const asked: number[] = []
  const view = {
    reader: {
      identity: { raw: IdentifyController.create(values).data },
      logPage(lid: number, { lengthBytes }: { lengthBytes: number }) {
        asked.push(lid)
        const page = Buffer.alloc(lengthBytes)
        page.write(pages[lid] ?? '', 'hex')
        return Promise.resolve(new DataView(new Uint8Array(page).buffer))
      },
    },
  } as AdminView
  return { view, asked }
}

test('every page has one name, and is found by it and by the name of the specification', () => {
  const lids = Object.values(LID.values)
  expect(new Set(lids.map(nameOfPage)).size).toBe(lids.length)
  for (const lid of lids) {
    expect(pageNamed(nameOfPage(lid))).toBe(lid)
    expect(pageNamed(LID.nameOf(lid))).toBe(lid)
  }
  expect([pageNamed('smart'), pageNamed('Self-Test'), pageNamed('persistent-event')]).toEqual([0x02, 0x06, 0x0d])
  expect(pageNamed('nope')).toBeUndefined()
})

test('a drive that lists its pages is believed, those of its vendor included', async () => {
  // LSUPP of LID 2 and C0h: a dword for each LID.
  const list = Buffer.alloc(1024)
  list.writeUInt32LE(1, 0x02 * 4)
  list.writeUInt32LE(3, 0xc0 * 4)
  const { view, asked } = viewOf({ LPA: { MLPS: 1 } }, { 0: list.toString('hex') })
  expect((await supportedPages(view)).map(({ lid }) => lid)).toEqual([0x02, 0xc0])
  expect(asked).toEqual([0])
})

test('of a drive that does not list them, pages are what Identify claims, and none is asked for to find out', async () => {
  const { view, asked } = viewOf({ LPA: { CSES: 1, TS: 1 }, OACS: { DSTS: 1 }, SANICAP: { BES: 1 } })
  expect((await supportedPages(view)).map(({ lid, says }) => [lid, says])).toEqual([
    [0x01, 'every drive'],
    [0x02, 'every drive'],
    [0x03, 'every drive'],
    [0x05, 'LPA.CSES'],
    [0x06, 'OACS.DSTS'],
    [0x07, 'LPA.TS'],
    [0x08, 'LPA.TS'],
    [0x81, 'SANICAP'],
  ])
  expect(asked).toEqual([])
})

test('how much is read is the whole of a page, its header, or 512 bytes of one that is not declared', () => {
  const { data } = IdentifyController.create({ ELPE: zeroBased(255), LPA: { LPEDS: 1 } })
  expect(usualBytes(0x01, data)).toBe(255 * 64)
  expect(usualBytes(0x01, IdentifyController.create({ ELPE: zeroBased(255) }).data)).toBe(4096)
  expect([usualBytes(0x02, data), usualBytes(0x05, data), usualBytes(0x06, data)]).toEqual([512, 4096, 564])
  expect(usualBytes(0xc0, data)).toBe(512)
})

test('a claim is of a field that Identify Controller has', () => {
  const identity = IdentifyController.decode(IdentifyController.create().data)
  expect(isClaimed(identity, claim('ONCS.TSS'))).toBe(false)
  expect(isClaimed({ HMPRE: 5 }, claim('HMPRE'))).toBe(true)
  expect(() => isClaimed(identity, claim('ONCS.NONE'))).toThrow('Identify Controller has no field ONCS.NONE')
})
