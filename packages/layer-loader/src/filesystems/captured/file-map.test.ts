import { crc32 } from 'node:zlib'
import { expect, test } from 'vitest'
import { memorySource } from '../../formats/byte-source.js'
import type { CapturedFile } from './capture.js'
import { decodeFileMap, encodeFileMap } from './file-map.js'
import { openCapturedFile } from './open-captured.js'

const device = Uint8Array.from({ length: 400_000 }, (_, index) => (index * 7 + (index >> 8)) & 0xff)
const captured: CapturedFile = {
  path: '/models/größe.gguf',
  sizeBytes: 200_000,
  extents: [
    { fileOffsetBytes: 0, deviceOffsetBytes: 150_000, lengthBytes: 150_000 },
    { fileOffsetBytes: 150_000, deviceOffsetBytes: 0, lengthBytes: 50_000 },
  ],
  device: { disk: 'nvme0n1', partition: 'nvme0n1p2', fileSystem: 'ext4' },
  partitionStartBytes: 1_048_576,
  mtimeNs: 1_795_359_775_736_499_961n,
  firstCrc32: crc32(device.subarray(150_000, 150_000 + 65_536)),
  lastCrc32: crc32(device.subarray(0, 50_000), crc32(device.subarray(150_000 + 134_464, 300_000))),
}

test('decodeFileMap returns the encoded map', () => {
  expect(decodeFileMap(encodeFileMap(captured))).toEqual(captured)
  const whole = { ...captured, device: { disk: 'nvme0n1', fileSystem: 'xfs' } }
  expect(decodeFileMap(encodeFileMap(whole))).toEqual(whole)
  const empty = { ...captured, sizeBytes: 0, extents: [] }
  expect(decodeFileMap(encodeFileMap(empty))).toEqual(empty)
})

test('openCapturedFile reads a file from the drive by its map', async () => {
  const source = await openCapturedFile(memorySource(device), captured)
  const into = new Uint8Array(10)
  await source.read(149_995, into)
  expect([...into]).toEqual([...device.subarray(299_995, 300_000), ...device.subarray(0, 5)])
})

test.each([
  ['the first byte', 150_000, 'first'],
  ['the last byte', 49_999, 'last'],
])('openCapturedFile rejects a map as stale if %s differs on the drive', async (_, at, said) => {
  const changed = device.slice()
  changed[at]! ^= 1
  const opening = openCapturedFile(memorySource(changed), captured)
  await expect(opening).rejects.toThrow(expect.objectContaining({ code: 'ERR_GPUNVME_FILE_MAP_STALE' }))
  await expect(opening).rejects.toThrow(said)
})

test('openCapturedFile rejects a drive that is shorter than the map requires', async () => {
  await expect(openCapturedFile(memorySource(device.subarray(0, 250_000)), captured)).rejects.toThrow(RangeError)
})

test.each([
  ['invalid JSON', '{'],
  ['an array', '[]'],
  ['of another format', encodeFileMap(captured).replace('map 1', 'map 2')],
  ['without a size', encodeFileMap(captured).replace('"sizeBytes"', '"size"')],
  ['with an invalid size', encodeFileMap(captured).replace('200000', '2e99')],
  ['with runs shorter than the file', encodeFileMap(captured).replace('200000', '200001')],
  ['with an incomplete run', encodeFileMap(captured).replace('[0,50000]', '[0]')],
  ['with an empty run', encodeFileMap(captured).replace('[0,50000]', '[0,50000],[9,0]')],
  ['with an invalid time', encodeFileMap(captured).replace('1795359775736499961', 'yesterday')],
])('decodeFileMap rejects a map that is %s', (_, text) => {
  expect(() => decodeFileMap(text)).toThrow(expect.objectContaining({ code: 'ERR_GPUNVME_FILE_MAP' }))
})
