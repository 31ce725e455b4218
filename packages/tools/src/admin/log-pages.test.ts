import { IdentifyController, LID, zeroBased } from '@gpunvme/nvme-spec'
import { expect, test } from 'vitest'
import { claim, isClaimed } from './claims.js'
import { nameOfPage, pageNamed, supportedPages, usualBytes } from './log-pages.js'
import type { AdminView } from './view.js'

/** Returns a drive with this Identify Controller and these pages; other pages are zero. Records the requested pages. */
function viewOf(values: Parameters<typeof IdentifyController.create>[0], pages: Record<number, string> = {}) {
  const requested: number[] = []
  const view = {
    reader: {
      identity: { raw: IdentifyController.create(values).data },
      logPage(lid: number, { lengthBytes }: { lengthBytes: number }) {
        requested.push(lid)
        const page = Buffer.alloc(lengthBytes)
        page.write(pages[lid] ?? '', 'hex')
        return Promise.resolve(new DataView(new Uint8Array(page).buffer))
      },
    },
  } as AdminView
  return { view, requested }
}

test('every log page has a unique name, and pageNamed also accepts the name of nvme-spec', () => {
  const lids = Object.values(LID.values)
  expect(new Set(lids.map(nameOfPage)).size).toBe(lids.length)
  for (const lid of lids) {
    expect(pageNamed(nameOfPage(lid))).toBe(lid)
    expect(pageNamed(LID.nameOf(lid))).toBe(lid)
  }
  expect([pageNamed('smart'), pageNamed('Self-Test'), pageNamed('persistent-event')]).toEqual([0x02, 0x06, 0x0d])
  expect(pageNamed('nope')).toBeUndefined()
})

test('supportedPages returns the pages listed by the drive, including vendor pages', async () => {
  // LSUPP of LID 2 and C0h: a dword for each LID.
  const list = Buffer.alloc(1024)
  list.writeUInt32LE(1, 0x02 * 4)
  list.writeUInt32LE(3, 0xc0 * 4)
  const { view, requested } = viewOf({ LPA: { MLPS: 1 } }, { 0: list.toString('hex') })
  expect((await supportedPages(view)).map(({ lid }) => lid)).toEqual([0x02, 0xc0])
  expect(requested).toEqual([0])
})

test('supportedPages derives the pages from Identify if the drive does not list them', async () => {
  const { view, requested } = viewOf({ LPA: { CSES: 1, TS: 1 }, OACS: { DSTS: 1 }, SANICAP: { BES: 1 } })
  expect((await supportedPages(view)).map(({ lid, declaredBy }) => [lid, declaredBy])).toEqual([
    [0x01, 'every drive'],
    [0x02, 'every drive'],
    [0x03, 'every drive'],
    [0x05, 'LPA.CSES'],
    [0x06, 'OACS.DSTS'],
    [0x07, 'LPA.TS'],
    [0x08, 'LPA.TS'],
    [0x81, 'SANICAP'],
  ])
  expect(requested).toEqual([])
})

test('usualBytes is the length of a page, of its header, or 512 bytes for undeclared pages', () => {
  const { data } = IdentifyController.create({ ELPE: zeroBased(255), LPA: { LPEDS: 1 } })
  expect(usualBytes(0x01, data)).toBe(255 * 64)
  expect(usualBytes(0x01, IdentifyController.create({ ELPE: zeroBased(255) }).data)).toBe(4096)
  expect([usualBytes(0x02, data), usualBytes(0x05, data), usualBytes(0x06, data)]).toEqual([512, 4096, 564])
  expect(usualBytes(0xc0, data)).toBe(512)
})

test('isClaimed rejects a field that Identify Controller does not have', () => {
  const identity = IdentifyController.decode(IdentifyController.create().data)
  expect(isClaimed(identity, claim('ONCS.TSS'))).toBe(false)
  expect(isClaimed({ HMPRE: 5 }, claim('HMPRE'))).toBe(true)
  expect(() => isClaimed(identity, claim('ONCS.NONE'))).toThrow('Identify Controller has no field ONCS.NONE')
})
