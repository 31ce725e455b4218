import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { type DeviceExtent } from '../../src/filesystems/index.js'
import { checksum16, ExFatWriter } from './exfat-writer.js'
import { describeWith, emptyImage, MIB, noise, opened, run, SLOW_MS, verdict } from './images.js'

const folder = scratch()

const tools = ['mkfs.exfat', 'fsck.exfat']

const BIG = noise(1_500_000, 3)
const LONG_NAME = 'A model with a rather long name, part 00001-of-00002, größe ✓.safetensors'

/** Creates an image with mkfs.exfat and files. Returns it with the clusters of the large file. */
function makeImage(options: readonly string[], mib = 16) {
  const path = emptyImage(join(folder, 'image'), mib * MIB)
  run('mkfs.exfat', ['-L', 'weights', ...options, path])
  const bytes = readFileSync(path)
  const writer = new ExFatWriter(bytes)
  const models = writer.directory(writer.rootDirectory, 'Models')
  const deep = writer.directory(models, 'deep', 3)
  // The entries of a name of 75 characters do not fit into one cluster of 512 bytes.
  const clusters = writer.file(deep, LONG_NAME, BIG, 'in pieces')
  writer.file(deep, 'small.bin', noise(777, 5), 'contiguous')
  writer.file(deep, 'one piece.gguf', noise(300_000, 6), 'contiguous')
  writer.file(deep, 'chained.gguf', noise(300_000, 7), 'in order')
  writer.file(deep, 'empty', Buffer.alloc(0), 'contiguous')
  writeFileSync(path, bytes)
  return { path, bytes, writer, clusters }
}

/** Returns the extents of clusters, with adjacent ones merged. */
function runsOf(writer: ExFatWriter, clusters: readonly number[], sizeBytes: number): DeviceExtent[] {
  const runs: DeviceExtent[] = []
  for (const [index, cluster] of clusters.entries()) {
    const fileOffsetBytes = index * writer.clusterBytes
    const lengthBytes = Math.min(writer.clusterBytes, sizeBytes - fileOffsetBytes)
    const last = runs.at(-1)
    if (last !== undefined && cluster === clusters[index - 1]! + 1) {
      runs[runs.length - 1] = { ...last, lengthBytes: last.lengthBytes + lengthBytes }
    } else runs.push({ fileOffsetBytes, deviceOffsetBytes: writer.offsetOf(cluster), lengthBytes })
  }
  return runs
}

/** Returns the offset of the entry set of a file, two entries before its name. */
const setOf = (bytes: Buffer, name: string) => bytes.indexOf(Buffer.from(name.slice(0, 15), 'utf16le')) - 66

/** Corrects the checksum of an entry set. */
function seal(bytes: Buffer, set: number): void {
  const entries = bytes.subarray(set, set + (1 + bytes[set + 1]!) * 32)
  entries.writeUInt16LE(checksum16(Buffer.concat([entries.subarray(0, 2), entries.subarray(4)])), 2)
}

describeWith('an exFAT file system', tools, () => {
  test.each([
    ['512 bytes', 512, ['-c', '512']],
    ['4 KiB', 4096, ['-c', '4096']],
    ['32 KiB', 32_768, ['-c', '32768']],
  ])(
    'the reader returns extents of fragmented, chained and contiguous files in clusters of %s',
    async (_, blockBytes, options) => {
      const { path, bytes, writer, clusters } = makeImage(options)
      const { status, said } = verdict('fsck.exfat', ['-n', path])
      expect(said).toContain('clean. directories 3, files 5')
      expect(status).toBe(0)
      const { fileSystem, bytesOf } = await opened(bytes)
      expect(fileSystem).toMatchObject({ kind: 'exFAT', label: 'weights', blockBytes })
      const serial = bytes.readUInt32LE(100).toString(16).toUpperCase().padStart(8, '0')
      expect(fileSystem.id).toBe(`${serial.slice(0, 4)}-${serial.slice(4)}`)
      const big = await fileSystem.file(`Models/deep/${LONG_NAME}`)
      expect(big.extents).toEqual(runsOf(writer, clusters, BIG.byteLength))
      expect(big.extents.length).toBeGreaterThan(15)
      expect((await bytesOf(big)).equals(BIG)).toBe(true)
      for (const [name, seed] of [
        ['one piece.gguf', 6],
        ['chained.gguf', 7],
      ] as const) {
        const file = await fileSystem.file(`models/DEEP/${name}`)
        expect(file.extents.length).toBe(1)
        expect((await bytesOf(file)).equals(noise(300_000, seed))).toBe(true)
      }
    },
    SLOW_MS,
  )

  test(
    'names are found by the up-case table in any case, and listed as stored',
    async () => {
      const { fileSystem } = await opened(makeImage(['-c', '512']).bytes)
      expect(await fileSystem.list('/')).toEqual([{ name: 'Models', kind: 'directory', sizeBytes: 512 }])
      expect((await fileSystem.list('models/Deep')).map(({ name }) => name)).toEqual([
        LONG_NAME,
        'small.bin',
        'one piece.gguf',
        'chained.gguf',
        'empty',
      ])
      const upper = LONG_NAME.replace('größe', 'GRÖßE').replace('model', 'MODEL')
      expect((await fileSystem.file(`models/deep/${upper}`)).sizeBytes).toBe(BIG.byteLength)
      expect((await fileSystem.file('models/deep/EMPTY')).extents).toEqual([])
    },
    SLOW_MS,
  )

  test(
    'a file system that was not unmounted or has errors is rejected without allowDirty',
    async () => {
      for (const [flag, said] of [
        [2, 'not unmounted'],
        [4, 'disk errors'],
      ] as const) {
        const { bytes } = makeImage([])
        bytes[106]! |= flag
        await expect(opened(bytes)).rejects.toMatchObject({
          code: 'ERR_GPUNVME_FILE_SYSTEM_UNCLEAN',
          message: expect.stringContaining(said) as string,
        })
        expect((await opened(bytes, { allowDirty: true })).fileSystem.kind).toBe('exFAT')
      }
    },
    SLOW_MS,
  )

  test(
    'a changed boot region is rejected by its checksum',
    async () => {
      const { bytes } = makeImage([])
      bytes[100]! ^= 1
      await expect(opened(bytes)).rejects.toThrow('the checksum of the main boot region')
    },
    SLOW_MS,
  )

  test.each([
    ['a wrong checksum of its entries', 4, 'SetChecksum'],
    ['a wrong name hash', 36, 'NameHash'],
    ['too few entries for its name', 35, 'NameLength'],
    ['a ValidDataLength beyond its length', 46, 'ValidDataLength'],
  ] as const)(
    'rejects a directory that has a file with %s',
    async (_, field, said) => {
      const { bytes } = makeImage([])
      const set = setOf(bytes, LONG_NAME)
      bytes[set + field]! ^= 0x80
      if (said !== 'SetChecksum') seal(bytes, set)
      await expect((await opened(bytes)).fileSystem.list('models/deep')).rejects.toThrow(said)
    },
    SLOW_MS,
  )

  test.each([
    ['is not written to its end', 1000n, BigInt(BIG.byteLength), 'UNWRITTEN'],
    ['is shorter than its chain', 1000n, 1000n, 'DAMAGED'],
    ['is longer than its chain', 1_600_000n, 1_600_000n, 'DAMAGED'],
    ['is longer than the device', 2n ** 40n, 2n ** 40n, 'DAMAGED'],
  ])(
    'the reader rejects a file that %s',
    async (_, validBytes, lengthBytes, code) => {
      const { bytes } = makeImage([])
      const set = setOf(bytes, LONG_NAME)
      bytes.writeBigUInt64LE(validBytes, set + 40)
      bytes.writeBigUInt64LE(lengthBytes, set + 56)
      seal(bytes, set)
      const { fileSystem } = await opened(bytes)
      await expect(fileSystem.file(`models/deep/${LONG_NAME}`)).rejects.toMatchObject({
        code: `ERR_GPUNVME_FILE_SYSTEM_${code}`,
      })
    },
    SLOW_MS,
  )
})
