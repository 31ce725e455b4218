import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { GpuNvmeError } from '@gpunvme/nvme-spec'
import { scratch } from '../../../../test/scratch.js'
import { fileOnDiskSource, findPartitions, openFileSystem } from '../../src/filesystems/index.js'
import { memorySource, type ByteSource } from '../../src/formats/byte-source.js'
import { BIG as EXT4_BIG, ext4Images } from './ext4-image.js'
import { ExFatWriter } from './exfat-writer.js'
import { BIG as FAT32_BIG, fat32Images, LONG_NAME } from './fat32-image.js'
import { emptyImage, MIB, missing, noise, numbers, run, SLOW_MS } from './images.js'

// What a drive says is what somebody else wrote. Whatever it is, reading ends, reads little, and gives the file as it
// was or an error of ours: by bits that flip in images that tools have made.

const folder = scratch()
const FLIPS = 300

/** A source that notes which bytes were asked for. */
function noting(bytes: Buffer): ByteSource & { readonly asked: [offsetBytes: number, lengthBytes: number][] } {
  const inner = memorySource(bytes, 'hostile')
  const asked: [number, number][] = []
  return {
    ...inner,
    asked,
    read(offsetBytes, into, options) {
      asked.push([offsetBytes, into.byteLength])
      return inner.read(offsetBytes, into, options)
    },
  }
}

/** Opens, lists and finds. @returns the file's bytes, or what was thrown, which must be ours. */
async function attempt(source: ByteSource, path: string): Promise<Buffer | GpuNvmeError> {
  try {
    const fileSystem = await openFileSystem(source)
    await fileSystem.list('/')
    const file = await fileSystem.file(path)
    const view = fileOnDiskSource(source, file)
    const into = Buffer.alloc(Math.min(view.sizeBytes, 4 * MIB))
    await view.read(0, into)
    return into
  } catch (error) {
    if (error instanceof GpuNvmeError && error.code.startsWith('ERR_GPUNVME_FILE_SYSTEM_')) return error
    throw error
  }
}

/** Bits flip one at a time, in the bytes that are read before the file's own, one of them at least a time each. */
async function flip(bytes: Buffer, path: string, content: Buffer, seed: number): Promise<Record<string, number>> {
  const plain = noting(bytes)
  expect(content.equals((await attempt(plain, path)) as Buffer)).toBe(true)
  const file = await (await openFileSystem(memorySource(bytes))).file(path)
  const isContent = (offsetBytes: number) =>
    file.extents.some(
      (run) => offsetBytes >= run.deviceOffsetBytes && offsetBytes < run.deviceOffsetBytes + run.lengthBytes,
    )
  const metadata = plain.asked.filter(([offsetBytes]) => !isContent(offsetBytes))
  const drawn = numbers(seed)
  const ended: Record<string, number> = {}
  for (let index = 0; index < FLIPS; index++) {
    const [offsetBytes, lengthBytes] = metadata[drawn(metadata.length)]!
    const at = offsetBytes + drawn(lengthBytes)
    const bit = 1 << drawn(8)
    bytes[at]! ^= bit
    const hostile = noting(bytes)
    const got = await attempt(hostile, path)
    bytes[at]! ^= bit
    const askedBytes = hostile.asked.reduce((sum, [, lengthBytes]) => sum + lengthBytes, 0)
    expect(askedBytes, `bit ${bit} of byte ${at}`).toBeLessThan(64 * MIB)
    const how = got instanceof GpuNvmeError ? got.code : content.equals(got) ? 'equal' : 'other'
    ended[how] = (ended[how] ?? 0) + 1
  }
  return ended
}

const only = (lacks: string | undefined) =>
  [describe.skipIf(lacks !== undefined), lacks ? ` (skipped: ${lacks})` : ''] as const
const [ext4, noExt4] = only(missing('mkfs.ext4', 'debugfs'))
const [fat32, noFat32] = only(missing('mkfs.vfat', 'mcopy', 'mmd', 'mdel'))
const [exfat, noExFat] = only(missing('mkfs.exfat'))

ext4(`an ext4 in which a bit flips${noExt4}`, () => {
  const image = ext4Images(folder)
  test(
    'with checksums gives the file as it was, or an error: never other bytes',
    async () => {
      const ended = await flip(readFileSync(image('ext4', ['-b', '1024'])), 'models/deep/link', EXT4_BIG, 11)
      expect(ended['other']).toBeUndefined()
      expect(ended['ERR_GPUNVME_FILE_SYSTEM_DAMAGED']).toBeGreaterThan(FLIPS / 2)
    },
    SLOW_MS,
  )

  test(
    'without checksums ends, and reads little',
    async () => {
      const bytes = readFileSync(image('plain', ['-b', '1024', '-O', '^metadata_csum']))
      const ended = await flip(bytes, 'models/deep/link', EXT4_BIG, 12)
      expect(ended['equal']).toBeGreaterThan(0)
      expect(ended['ERR_GPUNVME_FILE_SYSTEM_DAMAGED']).toBeGreaterThan(0)
    },
    SLOW_MS,
  )
})

fat32(`a FAT32 in which a bit flips${noFat32}`, () => {
  test(
    'ends, and reads little',
    async () => {
      const image = fat32Images(folder)('fat32', ['-s', '1'])
      const ended = await flip(readFileSync(image), `models/deep/${LONG_NAME}`, FAT32_BIG, 13)
      expect(ended['equal']).toBeGreaterThan(0)
      expect(ended['ERR_GPUNVME_FILE_SYSTEM_DAMAGED']).toBeGreaterThan(0)
    },
    SLOW_MS,
  )
})

exfat(`an exFAT in which a bit flips${noExFat}`, () => {
  test(
    'ends, and reads little',
    async () => {
      const path = emptyImage(`${folder}/exfat`, 16 * MIB)
      run('mkfs.exfat', ['-c', '512', path])
      const bytes = readFileSync(path)
      const writer = new ExFatWriter(bytes)
      const content = noise(400_000, 3)
      writer.file(writer.directory(writer.rootDirectory, 'models', 2), 'big.gguf', content, 'in pieces')
      const ended = await flip(bytes, 'models/big.gguf', content, 14)
      expect(ended['equal']).toBeGreaterThan(0)
      expect(ended['ERR_GPUNVME_FILE_SYSTEM_DAMAGED']).toBeGreaterThan(FLIPS / 4)
    },
    SLOW_MS,
  )
})

describe('a device of noise', () => {
  test('is no file system that is read, and has no partitions, whatever its length', async () => {
    for (const lengthBytes of [0, 1, 511, 512, 1024, 1536, 2048, 4095, 4096, 65_536]) {
      const source = memorySource(noise(lengthBytes, lengthBytes))
      await expect(openFileSystem(source)).rejects.toMatchObject({ code: 'ERR_GPUNVME_FILE_SYSTEM_UNKNOWN' })
      expect((await findPartitions(source)).kind).toBe('none')
    }
  })

  test('behind the magic number of a file system gives an error of ours', async () => {
    for (let seed = 0; seed < 300; seed++) {
      const bytes = noise(65_536, seed)
      if (seed % 3 === 0) bytes.writeUInt16LE(0xef53, 1024 + 0x38)
      if (seed % 3 === 1) bytes.write('EXFAT   ', 3)
      if (seed % 3 === 2) Buffer.from([0xeb, 0x58, 0x90]).copy(bytes)
      if (seed % 3 === 2) Buffer.from([0, 2, 1, 32, 0, 2, 0, 0, 0, 0]).copy(bytes, 11)
      bytes.writeUInt16LE(0xaa55, 510)
      expect(await attempt(memorySource(bytes), 'model.gguf')).toBeInstanceOf(GpuNvmeError)
    }
  })
})
