import { writeDemoModel } from '@gpunvme/layer-loader/formats'
import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { gpunvme, scratch, type Ended } from './gpunvme.js'
import { emptyImage, imageBytes } from './simulated-drive.js'

const MIB = 1024 * 1024
const cwd = scratch()

beforeAll(async () => {
  for (const [name, mib] of [
    ['small', 4],
    ['large', 24],
  ] as const)
    await writeDemoModel(join(cwd, `${name}.gguf`), { layers: 2, targetBytes: mib * MIB })
})

const pack = (model: string, image: string, ...args: string[]): Promise<Ended> =>
  gpunvme(['pack', `${model}.gguf`, '--image', image, '--name', model, ...args], { cwd })

/** Writes bytes into an image file; one nonzero byte by default. */
function mark(image: string, at: number, ...bytes: number[]): void {
  const fd = openSync(join(cwd, image), 'r+')
  const written = Uint8Array.from(bytes.length === 0 ? [7] : bytes)
  writeSync(fd, written, 0, written.length, at)
  closeSync(fd)
}

test('pack does not overwrite data of unknown format', async () => {
  emptyImage(join(cwd, 'grown.img'), 64 * MIB)
  mark('grown.img', 24 * MIB)
  expect((await pack('small', 'grown.img')).code).toBe(0)
  const refused = await pack('large', 'grown.img')
  expect([refused.code, refused.stderr]).toEqual([
    4,
    expect.stringMatching(
      /Refused to overwrite data of unknown format\n {2}byte 25165824 is nonzero.*\n {2}would be overwritten: bytes \d+ to \d+ \(/,
    ),
  ])
  expect(refused.stderr).toContain("--overwrite 'unknown data'")
  expect(imageBytes(join(cwd, 'grown.img'), 24 * MIB, 1)).toEqual(Buffer.of(7))
  expect((await pack('large', 'grown.img', '--overwrite', 'unknown data')).code).toBe(0)
})

test('pack also scans gaps, since a later model may be written there', async () => {
  emptyImage(join(cwd, 'gap.img'), 64 * MIB)
  expect((await pack('small', 'gap.img')).code).toBe(0)
  // The rest of the last MiB is unused.
  const end = 2 * MIB + 4 * MIB + MIB - 4096
  mark('gap.img', end)
  expect((await pack('large', 'gap.img')).stderr).toContain(`byte ${end} is nonzero`)
})

test('pack overwrites bytes of removed or replaced models', async () => {
  emptyImage(join(cwd, 'reused.img'), 96 * MIB)
  for (const words of [[], ['--replace'], ['--replace'], ['--replace']])
    expect(await pack('small', 'reused.img', ...words)).toMatchObject({ code: 0 })
  expect((await gpunvme(['models', 'rm', 'small', '--image', 'reused.img'], { cwd })).code).toBe(0)
  expect(await pack('large', 'reused.img')).toMatchObject({ code: 0 })
  expect(await pack('small', 'reused.img')).toMatchObject({ code: 0 })
})

test('--overwrite for a signature does not allow overwriting other data', async () => {
  emptyImage(join(cwd, 'stale.img'), 192 * MIB)
  expect((await pack('small', 'stale.img')).code).toBe(0)
  mark('stale.img', 24 * MIB)
  // A backup superblock of ext2/3/4 with 2 KiB blocks, in block group 3: its magic number, and the number of the group.
  mark('stale.img', 96 * MIB + 0x38, 0x53, 0xef)
  mark('stale.img', 96 * MIB + 0x5a, 3)
  expect((await pack('large', 'stale.img')).stderr).toContain('ext2/3/4')
  const named = await pack('large', 'stale.img', '--overwrite', 'ext2/3/4')
  expect([named.code, named.stderr]).toEqual([4, expect.stringContaining('byte 25165824 is nonzero')])
})
