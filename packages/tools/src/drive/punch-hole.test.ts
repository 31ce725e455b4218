import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadHardwareHost, NativeAddonError } from '@gpunvme/cuda-native/host'
import { expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { punchHole } from './punch-hole.js'

function isBuilt(): boolean {
  try {
    loadHardwareHost()
    return true
  } catch (error) {
    if (error instanceof NativeAddonError) return false
    throw error
  }
}

test('punchHole returns whether it made a hole, which requires the addon', () => {
  const path = join(scratch(), 'image')
  writeFileSync(path, new Uint8Array(3 * 4096).fill(1))
  const fd = openSync(path, 'r+')
  expect(punchHole(fd, 4096, 4096)).toBe(isBuilt())
  closeSync(fd)
  const bytes = readFileSync(path)
  expect([0, 1, 2].map((page) => bytes[page * 4096])).toEqual([1, isBuilt() ? 0 : 1, 1])
})
