import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { BIG, fat32Images, judgedExtents, LONG_NAME } from './fat32-image.js'
import { describeWith, emptyImage, MIB, noise, opened, run, SLOW_MS, verdict } from './images.js'

const folder = scratch()
const image = fat32Images(folder)

const tools = ['mkfs.vfat', 'fsck.vfat', 'mcopy', 'mmd', 'mdel', 'minfo', 'mshowfat']

/** Overwrites bytes of an image. */
function patch(path: string, offsetBytes: number, ...bytes: number[]): void {
  const handle = openSync(path, 'r+')
  writeSync(handle, Uint8Array.from(bytes), 0, bytes.length, offsetBytes)
  closeSync(handle)
}

// The default layout of mkfs.vfat by minfo: 32 reserved sectors, then two tables.
const FIRST_TABLE = 32 * 512
const tableBytes = (path: string) => Number(/Big fatlen=(\d+)/.exec(run('minfo', ['-i', path]))![1]) * 512
const clusterOf = (path: string, file: string) => Number(/<(\d+)/.exec(run('mshowfat', ['-i', path, `::${file}`]))![1])
const BIG_PATH = `/models/Deep/${LONG_NAME}`

describeWith('a FAT32 file system', tools, () => {
  test.each([
    ['clusters of 512 bytes', 512, ['-s', '1'], 40],
    ['clusters of 4 KiB', 4096, ['-s', '8'], 300],
    ['sectors of 4 KiB', 4096, ['-S', '4096', '-s', '1'], 300],
    ['one table', 1024, ['-s', '2', '-f', '1'], 80],
  ] as const)(
    'with %s returns the extents that mtools lists',
    async (_, blockBytes, mkfs, mib) => {
      const path = image('layout', mkfs, mib)
      const { fileSystem, bytesOf } = await opened(path)
      expect(fileSystem).toMatchObject({ kind: 'FAT32', label: 'WEIGHTS', blockBytes })
      const info = run('minfo', ['-i', path])
      expect(info).toContain(`serial number: ${fileSystem.id.replace('-', '')}\n`)
      const sectorBytes = Number(/sector size: (\d+) bytes/.exec(info)![1])
      expect(info).toContain(`big size: ${fileSystem.totalBytes / sectorBytes} sectors\n`)
      const big = await fileSystem.file(BIG_PATH)
      expect(big.extents).toEqual(judgedExtents(path, BIG_PATH, BIG.byteLength))
      expect(big.extents.length).toBeGreaterThan(100)
      expect((await bytesOf(big)).equals(BIG)).toBe(true)
      expect(verdict('fsck.vfat', ['-n', path])).toMatchObject({ status: 0 })
    },
    SLOW_MS,
  )

  test(
    'long and short names are found in any case, and listed as stored',
    async () => {
      const { fileSystem, bytesOf } = await opened(image('names', ['-s', '1']))
      expect(await fileSystem.list('MODELS/deep')).toEqual([
        { name: LONG_NAME, kind: 'file', sizeBytes: BIG.byteLength },
        { name: 'SMALL.BIN', kind: 'file', sizeBytes: 777 },
        { name: 'empty', kind: 'file', sizeBytes: 0 },
      ])
      // The upper case of ß is ß here: SS has another length.
      const upper = LONG_NAME.toUpperCase().replace('GRÖSSE', 'GRÖßE')
      for (const path of ['models/deep/AMODEL~1.SAF', `Models/Deep/${upper}`]) {
        expect((await fileSystem.file(path)).sizeBytes, path).toBe(BIG.byteLength)
      }
      expect((await bytesOf(await fileSystem.file('/models/deep/small.bin'))).equals(noise(777, 5))).toBe(true)
      expect((await fileSystem.file('models/deep/EMPTY')).extents).toEqual([])
      expect((await fileSystem.list('models')).length).toBe(201)
      await expect(fileSystem.file('models/filler-1.bin')).rejects.toMatchObject({
        code: 'ERR_GPUNVME_FILE_SYSTEM_NOT_FOUND',
      })
    },
    SLOW_MS,
  )

  test(
    'the reader ignores a long name whose checksum does not match the short name',
    async () => {
      const path = image('orphan', ['-s', '1'])
      const at = readFileSync(path).indexOf('AMODEL~1SAF', 0, 'latin1')
      patch(path, at, 0x42)
      const { fileSystem } = await opened(path)
      expect((await fileSystem.list('models/Deep')).map(({ name }) => name)).toEqual([
        'BMODEL~1.SAF',
        'SMALL.BIN',
        'empty',
      ])
    },
    SLOW_MS,
  )

  test(
    'a file system that was not unmounted or has errors is rejected without allowDirty',
    async () => {
      for (const [offsetBytes, value, said] of [
        [FIRST_TABLE + 7, 0x07, 'not unmounted'],
        [FIRST_TABLE + 7, 0x0b, 'disk errors'],
        [65, 1, 'not unmounted'],
      ] as const) {
        const path = image('dirty', ['-s', '1'])
        patch(path, offsetBytes, value)
        if (offsetBytes !== 65) patch(path, offsetBytes + tableBytes(path), value)
        await expect(opened(path)).rejects.toMatchObject({
          code: 'ERR_GPUNVME_FILE_SYSTEM_UNCLEAN',
          message: expect.stringContaining(said) as string,
        })
        const { fileSystem, bytesOf } = await opened(path, { allowDirty: true })
        expect((await bytesOf(await fileSystem.file(BIG_PATH))).equals(BIG)).toBe(true)
      }
    },
    SLOW_MS,
  )

  test.each([
    ['is bad', [0xf7, 0xff, 0xff, 0x0f]],
    ['is free', [0, 0, 0, 0]],
    ['is beyond the last one', [0, 0, 0xff, 0x0b]],
    ['ends the chain too early', [0xff, 0xff, 0xff, 0x0f]],
    ['is the same one', 'itself'],
  ] as const)(
    'rejects a file where the next cluster in a chain %s',
    async (_, next) => {
      const path = image('chain', ['-s', '1'])
      const cluster = clusterOf(path, BIG_PATH)
      const entry = next === 'itself' ? [cluster & 0xff, cluster >>> 8, 0, 0] : next
      for (const table of [0, tableBytes(path)]) patch(path, FIRST_TABLE + table + cluster * 4, ...entry)
      const { fileSystem } = await opened(path)
      await expect(fileSystem.file(BIG_PATH)).rejects.toMatchObject({ code: 'ERR_GPUNVME_FILE_SYSTEM_DAMAGED' })
    },
    SLOW_MS,
  )

  test(
    'the reader rejects only the files for which the two tables differ',
    async () => {
      const path = image('differ', ['-s', '1'])
      patch(path, FIRST_TABLE + tableBytes(path) + clusterOf(path, BIG_PATH) * 4, 0x77)
      const { fileSystem } = await opened(path)
      await expect(fileSystem.file(BIG_PATH)).rejects.toThrow('second file allocation table')
      expect((await fileSystem.file('models/filler-0.bin')).sizeBytes).toBe(4000)
    },
    SLOW_MS,
  )

  test(
    'the reader rejects a directory with a cyclic chain',
    async () => {
      const path = image('cycle', ['-s', '1'])
      const cluster = clusterOf(path, '/models')
      for (const table of [0, tableBytes(path)]) {
        patch(path, FIRST_TABLE + table + cluster * 4, cluster & 0xff, cluster >>> 8, 0, 0)
      }
      await expect((await opened(path)).fileSystem.list('models')).rejects.toThrow('cycle')
    },
    SLOW_MS,
  )

  test.each([
    ['FAT12', ['-F', '12'], 4],
    ['FAT16', ['-F', '16'], 32],
  ] as const)(
    'is distinguished from %s, which is rejected by name',
    async (name, mkfs, mib) => {
      const path = emptyImage(join(folder, name), mib * MIB)
      run('mkfs.vfat', [...mkfs, path])
      await expect(opened(path)).rejects.toMatchObject({
        code: 'ERR_GPUNVME_FILE_SYSTEM_UNSUPPORTED',
        message: expect.stringContaining(name) as string,
      })
    },
    SLOW_MS,
  )
})
