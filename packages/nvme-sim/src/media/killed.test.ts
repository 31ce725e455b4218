import type * as fs from 'node:fs'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { fileMedia } from './file.js'

const folder = scratch()
const path = join(folder, 'image')

const MIB = 1 << 20

/** Called after each file system call, at which a process could be killed. */
const left = vi.hoisted(() => ({ note: undefined as (() => void) | undefined }))

vi.mock('node:fs', async (original) => {
  const real = await original<typeof fs>()
  const noted = Object.entries(real).map(([name, member]) => {
    if (typeof member !== 'function' || !/^(?!stat).*Sync$/.test(name)) return [name, member] as const
    const call = member as (...given: unknown[]) => unknown
    return [
      name,
      (...given: unknown[]) => {
        const result = call(...given)
        left.note?.()
        return result
      },
    ] as const
  })
  return Object.fromEntries(noted)
})

it.each([
  ['all of it', 0, 4 * MIB],
  ['its end', 2 * MIB + 512, 2 * MIB - 512],
  ['its last block', 4 * MIB - 512, 512],
  ['its middle', MIB, 2 * MIB],
])('an image is never shorter than its namespace while %s is deallocated', (_, offsetBytes, lengthBytes) => {
  const media = fileMedia(path, { capacityBytes: 4 * MIB })
  media.write(0, new Uint8Array(4 * MIB).fill(1))
  const sizes: number[] = []
  left.note = () => sizes.push(statSync(path).size)
  media.deallocate!(offsetBytes, lengthBytes)
  left.note = undefined
  media.close()
  expect(sizes.length).toBeGreaterThan(0)
  expect(new Set(sizes)).toEqual(new Set([4 * MIB]))
})
