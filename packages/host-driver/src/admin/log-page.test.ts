import { GetLogPage, IDENTIFY_BYTES, IdentifyController } from '@gpunvme/nvme-spec'
import { expect, test } from 'vitest'
import { AdminReader, type AdminExchange } from './reader.js'

/** A controller whose log pages hold the number n / 4 at byte n; records the offset and length of each part. */
function controller(takesOffsets: 0 | 1) {
  const parts: [offsetBytes: number, lengthBytes: number][] = []
  const exchange: AdminExchange = (command, values, options) => {
    const { lengthBytes = IDENTIFY_BYTES } = options ?? {}
    if (command.name === 'Identify')
      return Promise.resolve({ dw0: 0, data: IdentifyController.create({ LPA: { LPEDS: takesOffsets } }).data })
    const entry = new DataView(new ArrayBuffer(64))
    command.encode(entry, 0, values)
    const { LPOL, LPOU, NUMDL, NUMDU } = GetLogPage.view(entry)
    const offsetBytes = LPOU * 2 ** 32 + LPOL
    expect((NUMDU * 2 ** 16 + NUMDL + 1) * 4).toBe(lengthBytes)
    parts.push([offsetBytes, lengthBytes])
    const words = Uint32Array.from({ length: lengthBytes / 4 }, (_, index) => offsetBytes / 4 + index)
    return Promise.resolve({ dw0: 0, data: new DataView(words.buffer) })
  }
  return { exchange, parts }
}

test('a log page longer than 4 KiB is read in parts, each from the end of the part before it', async () => {
  const { exchange, parts } = controller(1)
  const reader = await AdminReader.open(exchange)
  const page = await reader.logPage(0x02, { offsetBytes: 128, lengthBytes: 2 * 4096 + 12 })
  expect(parts).toEqual([
    [128, 4096],
    [128 + 4096, 4096],
    [128 + 8192, 12],
  ])
  expect(page.byteLength).toBe(8204)
  expect([page.getUint32(0, true), page.getUint32(4096, true), page.getUint32(8200, true)]).toEqual([32, 1056, 2082])
})

test('an offset or more than 4 KiB is rejected if the controller lacks extended data (LPA.LPEDS)', async () => {
  const { exchange, parts } = controller(0)
  const reader = await AdminReader.open(exchange)
  await expect(reader.logPage(0x02, { offsetBytes: 4, lengthBytes: 512 })).rejects.toThrow('LPA.LPEDS is 0')
  await expect(reader.logPage(0x02, { lengthBytes: 4100 })).rejects.toThrow('LPA.LPEDS is 0')
  expect((await reader.logPage(0x02, { lengthBytes: 4096 })).byteLength).toBe(4096)
  expect(parts).toEqual([[0, 4096]])
})
