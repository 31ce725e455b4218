import type { NativeRegion } from '@gpunvme/nvme-spec/transport'
import { expect, it } from 'vitest'
import { FileWindows } from './file-windows.js'

const GIB = 2 ** 30
const MIB = 2 ** 20

/** Records the ranges that are mapped, without mapping any memory. */
function recorder() {
  const maps: { offsetBytes: number; lengthBytes: number; isMapped: boolean }[] = []
  const failing = { fromByte: Infinity }
  const mapForeign = (_fd: number, offsetBytes: number, lengthBytes: number) => {
    if (offsetBytes >= failing.fromByte) throw new RangeError('the file is shorter now')
    const map = { offsetBytes, lengthBytes, isMapped: true }
    maps.push(map)
    return { lengthBytes, unmap: () => (map.isMapped = false) } as unknown as NativeRegion
  }
  return { maps, failing, windows: new FileWindows('1 2', { mapForeign }) }
}

it('maps a large file in windows of 1 GiB that overlap the next one', () => {
  const { maps, windows } = recorder()
  windows.map(3, 0, 3 * GIB, 3 * GIB)
  expect(maps.map(({ offsetBytes, lengthBytes }) => [offsetBytes / GIB, lengthBytes])).toEqual([
    [0, GIB + 64 * MIB],
    [1, GIB + 64 * MIB],
    [2, GIB],
  ])
  expect(windows.reach(GIB - 4096, 8192)).toBe(8192)
  expect(windows.reach(2 * GIB - 1, 64 * MIB + 1)).toBe(64 * MIB + 1)
  expect(windows.reach(2 * GIB - 1, 64 * MIB + 2)).toBe(64 * MIB + 1)
  expect(windows.reach(3 * GIB - 1, 2)).toBe(1)
})

it('the overlap with the next window ends at a page boundary when a file ends inside a page', () => {
  const { maps, windows } = recorder()
  windows.map(3, GIB - 4096, GIB, GIB + 101)
  windows.map(3, GIB, GIB + 4096, 2 * GIB)
  expect(maps.map(({ offsetBytes, lengthBytes }) => [offsetBytes / GIB, lengthBytes])).toEqual([
    [0, GIB],
    [1, GIB],
  ])
  expect(windows.reach(GIB - 4096, 8192)).toBe(4096)
})

it('maps only the windows that are needed, each once', () => {
  const { maps, windows } = recorder()
  windows.map(3, 5 * GIB, 5 * GIB + 4096, 8 * GIB)
  windows.map(3, 5 * GIB + 4096, 6 * GIB, 8 * GIB)
  expect(maps.map(({ offsetBytes }) => offsetBytes / GIB)).toEqual([5])
  expect(FileWindows.needed(5 * GIB, 6 * GIB)).toBe(1)
  expect(FileWindows.needed(5 * GIB, 6 * GIB + 1)).toBe(2)
  expect(windows.count).toBe(1)
  expect(windows.reach(0, 1)).toBe(0)
  windows.unmap()
  expect(maps.every(({ isMapped }) => !isMapped)).toBe(true)
  expect(windows.count).toBe(0)
})

it('remaps a short window after the file has grown', () => {
  const { maps, windows } = recorder()
  windows.map(3, 0, 4096, 4096)
  windows.map(3, 4096, 8192, 8192)
  expect(maps).toEqual([
    { offsetBytes: 0, lengthBytes: 4096, isMapped: false },
    { offsetBytes: 0, lengthBytes: 8192, isMapped: true },
  ])
})

it('if a window cannot be mapped, unmaps the new ones and keeps the previous ones', () => {
  const { maps, failing, windows } = recorder()
  windows.map(3, 0, 4096, 4096)
  failing.fromByte = 2 * GIB
  expect(() => windows.map(3, 0, 3 * GIB, 3 * GIB)).toThrow(RangeError)
  expect(maps.map(({ isMapped }) => isMapped)).toEqual([true, false, false])
  expect([windows.count, windows.reach(0, 4097)]).toEqual([1, 4096])
})

it('maps one window far inside a sparse file', () => {
  const { maps, windows } = recorder()
  const last = 8_388_606
  windows.map(3, last * GIB, last * GIB + 4096, last * GIB + 4096)
  expect(maps).toHaveLength(1)
  // Visiting every window before it in each iteration would take minutes.
  for (let i = 0; i < 1e4; i++) expect(windows.count).toBe(1)
  windows.unmap()
  expect(maps[0]).toMatchObject({ isMapped: false })
})
