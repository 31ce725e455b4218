import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { fileOnDiskSource, openFileSystem } from '../../src/filesystems/index.js'
import { memorySource } from '../../src/formats/byte-source.js'
import { BIG, debugfs, ext4Images, judgedExtents, judgedNames } from './ext4-image.js'
import { describeWith, noise, opened, run, SLOW_MS, verdict } from './images.js'

const folder = scratch()
const image = ext4Images(folder)

const tools = ['mkfs.ext4', 'debugfs', 'e2fsck']

const layouts: readonly (readonly [name: string, blockBytes: number, mkfs: readonly string[]])[] = [
  ['blocks of 1 KiB', 1024, ['-b', '1024']],
  ['blocks of 2 KiB', 2048, ['-b', '2048']],
  ['blocks of 4 KiB', 4096, ['-b', '4096']],
  ['blocks of 64 KiB', 65_536, ['-b', '65536', '-O', '^has_journal', '-N', '2000']],
  ['inodes of 128 bytes', 1024, ['-b', '1024', '-I', '128']],
  ['32-bit block numbers', 4096, ['-b', '4096', '-O', '^64bit']],
  ['no metadata checksums', 1024, ['-b', '1024', '-O', '^metadata_csum']],
  ['a checksum seed of its own', 1024, ['-b', '1024', '-O', 'metadata_csum_seed']],
  ['meta block groups', 1024, ['-b', '1024', '-g', '1024', '-O', 'meta_bg,^resize_inode']],
  ['a superblock in every group', 1024, ['-b', '1024', '-g', '512', '-O', 'meta_bg,^resize_inode,^sparse_super']],
  ['two backup superblocks', 1024, ['-b', '1024', '-g', '1024', '-O', 'meta_bg,^resize_inode,sparse_super2']],
  ['groups that are not flexible', 1024, ['-b', '1024', '-O', '^flex_bg']],
  ['clusters of blocks', 1024, ['-b', '1024', '-O', 'bigalloc', '-C', '4096']],
  ['directories in inodes', 1024, ['-b', '1024', '-O', 'inline_data']],
  ['case folding', 1024, ['-b', '1024', '-O', 'casefold', '-E', 'encoding=utf8']],
  ['large directories and no journal', 1024, ['-b', '1024', '-O', 'large_dir,^has_journal']],
]

describeWith('an ext4 file system', tools, () => {
  test.each(layouts)(
    'the reader returns the extents that debugfs lists, with %s',
    async (_, blockBytes, mkfs) => {
      const path = image('layout', mkfs)
      const { fileSystem, bytesOf } = await opened(path)
      expect(fileSystem).toMatchObject({ kind: 'ext4', label: 'weights', blockBytes })
      expect(debugfs(path, 'stats')).toContain(`Filesystem UUID:          ${fileSystem.id}\n`)
      const big = await fileSystem.file('/big.gguf')
      expect(big.extents).toEqual(judgedExtents(path, 'big.gguf', blockBytes, BIG.byteLength))
      expect(big.extents.length).toBeGreaterThan(blockBytes === 65_536 ? 10 : 90)
      expect((await bytesOf(big)).equals(BIG)).toBe(true)
      const names = (await fileSystem.list('/')).map(({ name }) => name)
      expect(names.sort()).toEqual(judgedNames(path).sort())
      expect(verdict('e2fsck', ['-fn', path])).toMatchObject({ status: 0 })
    },
    SLOW_MS,
  )

  test(
    'the reader supports directories with hash trees of two levels',
    async () => {
      const path = image('hashed', ['-b', '1024'])
      run('e2fsck', ['-fyD', path])
      expect(debugfs(path, 'htree /hashed')).toContain('Indirect levels: 1')
      const { fileSystem } = await opened(path)
      expect((await fileSystem.list('hashed')).map(({ name }) => name.split('-')[0]).sort()).toEqual(
        Array.from({ length: 600 }, (_, index) => String(index)).sort(),
      )
      expect(await fileSystem.file(`hashed/${'599-'.padEnd(240, 'x')}`)).toMatchObject({ sizeBytes: 0, extents: [] })
    },
    SLOW_MS,
  )

  test(
    'the reader lists directory entries with kind and size',
    async () => {
      const { fileSystem, bytesOf } = await opened(image('listed', ['-b', '1024', '-O', 'inline_data']))
      expect([...(await fileSystem.list('models'))].sort((one, other) => (one.name < other.name ? -1 : 1))).toEqual([
        { name: 'deep', kind: 'directory', sizeBytes: 60 },
        { name: 'größe ✓.bin', kind: 'file', sizeBytes: 5000 },
        { name: 'slow-link', kind: 'symlink', sizeBytes: 75 },
        { name: 'small.bin', kind: 'file', sizeBytes: 777 },
      ])
      const file = await fileSystem.file('models/deep/../größe ✓.bin')
      expect((await bytesOf(file)).equals(noise(5000, 6))).toBe(true)
      expect(await fileSystem.file('empty')).toEqual({ path: 'empty', sizeBytes: 0, extents: [] })
    },
    SLOW_MS,
  )

  test.each([
    ['in inodes and blocks', ['-b', '1024']],
    ['in inodes with inline data', ['-b', '1024', '-O', 'inline_data']],
  ])(
    'the reader follows symbolic links stored %s',
    async (_, mkfs) => {
      const { fileSystem, bytesOf } = await opened(image('links', mkfs))
      expect((await bytesOf(await fileSystem.file('models/deep/link'))).equals(BIG)).toBe(true)
      expect((await bytesOf(await fileSystem.file('models/slow-link'))).equals(noise(777, 5))).toBe(true)
    },
    SLOW_MS,
  )

  test(
    'the reader rejects paths that are missing, cyclic or outside of the file system',
    async () => {
      const { fileSystem } = await opened(image('paths', ['-b', '1024']))
      for (const [path, code] of [
        ['missing.gguf', 'NOT_FOUND'],
        ['BIG.gguf', 'NOT_FOUND'],
        ['big.gguf/below', 'NOT_A_DIRECTORY'],
        ['models', 'NOT_A_FILE'],
        ['loop', 'LINK'],
        ['absolute', 'LINK'],
        ['out', 'LINK'],
        ['../big.gguf', 'LINK'],
      ] as const) {
        await expect(fileSystem.file(path), path).rejects.toMatchObject({ code: `ERR_GPUNVME_FILE_SYSTEM_${code}` })
      }
      await expect(fileSystem.file('nope')).rejects.toThrow(': "nope" does not exist')
      await expect(fileSystem.file('models/nope')).rejects.toThrow(': "nope" of "models/nope" does not exist')
      await expect(fileSystem.list('big.gguf')).rejects.toMatchObject({
        code: 'ERR_GPUNVME_FILE_SYSTEM_NOT_A_DIRECTORY',
      })
      await expect(fileSystem.file('x'.repeat(4097))).rejects.toThrow(RangeError)
    },
    SLOW_MS,
  )

  test(
    'the reader enforces the limits and the abort signal',
    async () => {
      const source = memorySource(readFileSync(image('limits', ['-b', '1024'])))
      const pieces = await openFileSystem(source, { limits: { maxExtents: 200 } })
      await expect(pieces.file('big.gguf')).rejects.toMatchObject({ code: 'ERR_GPUNVME_FILE_SYSTEM_LIMIT' })
      const short = await openFileSystem(source, { limits: { maxDirectoryBytes: 1024 } })
      await expect(short.list('/')).rejects.toMatchObject({ code: 'ERR_GPUNVME_FILE_SYSTEM_LIMIT' })
      expect((await pieces.list('/')).length).toBeGreaterThan(400)
      await expect(openFileSystem(source, { limits: { maxExtents: -1 } })).rejects.toThrow(RangeError)
      const signal = AbortSignal.abort(new Error('enough'))
      await expect(openFileSystem(source, { signal })).rejects.toThrow('enough')
      await expect(pieces.file('big.gguf', { signal })).rejects.toThrow('enough')
    },
    SLOW_MS,
  )

  test(
    'extents in a partition are relative to the start of the device',
    async () => {
      const path = image('partition', ['-b', '1024'])
      const startBytes = 1_048_576
      const bytes = readFileSync(path)
      const source = memorySource(Buffer.concat([Buffer.alloc(startBytes, 0xff), bytes, Buffer.alloc(4096, 0xff)]))
      const partition = { startBytes, lengthBytes: bytes.byteLength }
      const file = await (await openFileSystem(source, { partition })).file('big.gguf')
      const [first] = judgedExtents(path, 'big.gguf', 1024, BIG.byteLength)
      expect(file.extents[0]).toEqual({ ...first, deviceOffsetBytes: first!.deviceOffsetBytes + startBytes })
      const into = Buffer.alloc(BIG.byteLength)
      await fileOnDiskSource(source, file).read(0, into)
      expect(into.equals(BIG)).toBe(true)
      await expect(
        openFileSystem(source, { partition: { startBytes, lengthBytes: bytes.byteLength + 8192 } }),
      ).rejects.toThrow(RangeError)
    },
    SLOW_MS,
  )

  test.each([
    ['a journal that was not replayed', 'feature needs_recovery', 'UNCLEAN', 'needs_recovery'],
    ['errors that Linux has found', 'ssv state 3', 'UNCLEAN', 'errors'],
    ['the state not unmounted', 'ssv state 0', 'UNCLEAN', 'not unmounted'],
    ['files to be deleted', 'ssv last_orphan 15', 'UNCLEAN', 'orphans'],
    ['an orphan file that is in use', 'feature FEATURE_R16', 'UNCLEAN', 'orphans'],
    ['an unknown feature', 'feature FEATURE_I31', 'UNSUPPORTED', '0x80000000'],
    ['a journal of another file system', 'feature journal_dev', 'UNSUPPORTED', 'JOURNAL_DEV'],
    ['multiple mount protection', 'feature mmp', 'UNSUPPORTED', 'MMP'],
  ])(
    'a file system with %s is rejected',
    async (_, request, code, said) => {
      const path = image('refused', ['-b', '1024'])
      debugfs(path, request)
      await expect(opened(path)).rejects.toMatchObject({
        code: `ERR_GPUNVME_FILE_SYSTEM_${code}`,
        message: expect.stringContaining(said) as string,
      })
    },
    SLOW_MS,
  )

  test.each([
    ['that is encrypted', 'big.gguf', [], ['sif big.gguf flags 0x80800'], 'ENCRYPTED'],
    ['with a hole', 'big.gguf', [], ['punch big.gguf 100 110'], 'HOLE'],
    ['that ends in a hole', 'big.gguf', [], ['sif big.gguf size 9000000'], 'HOLE'],
    [
      'with blocks that were not written',
      'models/small.bin',
      [],
      ['fallocate models/small.bin 1 4', 'sif models/small.bin size 5000'],
      'UNWRITTEN',
    ],
    ['with a block map', 'big.gguf', ['-O', '^extents,^64bit'], [], 'BLOCK_MAP'],
    ['inside its inode', 'tiny', ['-O', 'inline_data'], [], 'INLINE'],
  ] as const)(
    'rejects only a file %s',
    async (_, name, mkfs, requests, code) => {
      const path = image('file', ['-b', '1024', ...mkfs])
      for (const request of requests) debugfs(path, request)
      const { fileSystem } = await opened(path)
      await expect(fileSystem.file(name)).rejects.toMatchObject({ code: `ERR_GPUNVME_FILE_SYSTEM_${code}` })
      if (code !== 'BLOCK_MAP') expect(await fileSystem.file('filler-0')).toMatchObject({ sizeBytes: 3000 })
    },
    SLOW_MS,
  )

  test(
    'extents omit blocks reserved after the end of a file',
    async () => {
      const path = image('reserved', ['-b', '1024'])
      debugfs(path, 'fallocate models/small.bin 1 9')
      const { fileSystem, bytesOf } = await opened(path)
      expect((await bytesOf(await fileSystem.file('models/small.bin'))).equals(noise(777, 5))).toBe(true)
    },
    SLOW_MS,
  )
})
