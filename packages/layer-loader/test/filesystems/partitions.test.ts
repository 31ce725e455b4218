import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { findPartitions, openFileSystem } from '../../src/filesystems/index.js'
import { memorySource } from '../../src/formats/byte-source.js'
import { describeWith, emptyImage, MIB, run, SLOW_MS } from './images.js'

const folder = scratch()

const tools = ['sfdisk', 'mkfs.ext4', 'mkfs.vfat']

interface JudgedTable {
  readonly partitiontable: {
    readonly sectorsize: number
    readonly partitions: readonly { node: string; start: number; size: number; type: string; name?: string }[]
  }
}

/** Partitions an image with sfdisk. Returns its path, its bytes, and the partitions that sfdisk lists. */
function partitioned(script: string, mib = 64) {
  const path = emptyImage(join(folder, 'image'), mib * MIB)
  run('sfdisk', ['-q', path], { input: script })
  const { partitiontable } = JSON.parse(run('sfdisk', ['--json', path])) as JudgedTable
  const partitions = partitiontable.partitions.map(({ node, start, size, type, name = '' }) => ({
    index: Number(node.slice(path.length)),
    startBytes: start * partitiontable.sectorsize,
    lengthBytes: size * partitiontable.sectorsize,
    type: type.length === 36 ? type.toLowerCase() : `0x${type.padStart(2, '0')}`,
    name,
  }))
  return { path, bytes: readFileSync(path), partitions }
}

const GPT = 'label: gpt\nsize=8MiB, type=U, name="EFI, größe ✓"\nsize=16MiB, type=L, name=models\nstart=40MiB, type=L\n'

const MBR =
  'label: dos\nsize=8MiB, type=c\nsize=8MiB, type=83\nsize=1MiB, type=83\nsize=40MiB, type=5\n' +
  'size=4MiB, type=83\nsize=4MiB, type=83\nsize=4MiB, type=7\n'

describeWith('findPartitions on a device partitioned by sfdisk', tools, () => {
  test(
    'findPartitions returns the partitions of a GPT that sfdisk lists',
    async () => {
      const { bytes, partitions } = partitioned(GPT)
      expect(partitions.length).toBe(3)
      expect(await findPartitions(memorySource(bytes))).toEqual({ kind: 'GPT', blockBytes: 512, partitions })
    },
    SLOW_MS,
  )

  test(
    'findPartitions returns primary and logical partitions of an MBR',
    async () => {
      const { bytes, partitions } = partitioned(MBR)
      expect(partitions.map(({ index }) => index)).toEqual([1, 2, 3, 4, 5, 6, 7])
      expect(await findPartitions(memorySource(bytes))).toEqual({ kind: 'MBR', blockBytes: 512, partitions })
    },
    SLOW_MS,
  )

  test.each([
    ['the header is damaged', 512 + 60],
    ['an entry is damaged', 1024 + 40],
  ])(
    'findPartitions uses the backup GPT and reports the damage if %s',
    async (_, at) => {
      const { bytes, partitions } = partitioned(GPT)
      bytes[at]! ^= 1
      expect(await findPartitions(memorySource(bytes))).toEqual({
        kind: 'GPT',
        blockBytes: 512,
        partitions,
        damage: expect.stringContaining('checksum') as string,
      })
    },
    SLOW_MS,
  )

  test(
    'findPartitions rejects a GPT with two damaged copies, and reports both',
    async () => {
      const { bytes } = partitioned(GPT)
      bytes[512 + 60]! ^= 1
      bytes[bytes.byteLength - 512 + 60]! ^= 1
      const found = findPartitions(memorySource(bytes))
      await expect(found).rejects.toThrow(expect.objectContaining({ code: 'ERR_GPUNVME_PARTITION_TABLE' }))
      await expect(found).rejects.toThrow(/LBA 1 has a wrong checksum; the header in LBA 131071 has a wrong checksum/)
    },
    SLOW_MS,
  )

  test(
    'findPartitions rejects an MBR with cyclic logical partitions or a partition past the device',
    async () => {
      const cycle = partitioned(MBR)
      const table = cycle.bytes.readUInt32LE(446 + 3 * 16 + 8) * 512
      cycle.bytes.writeUInt32LE(0, table + 446 + 16 + 8)
      await expect(findPartitions(memorySource(cycle.bytes))).rejects.toThrow('no end')
      const long = partitioned(MBR)
      long.bytes.writeUInt32LE(0xffff_ff00, 446 + 12)
      await expect(findPartitions(memorySource(long.bytes))).rejects.toThrow('extends past the device')
    },
    SLOW_MS,
  )

  test(
    'findPartitions returns a partition that openFileSystem can open',
    async () => {
      const { path, partitions } = partitioned(GPT)
      const [, models] = partitions
      run('mkfs.ext4', ['-q', '-F', '-E', `offset=${models!.startBytes}`, path, `${models!.lengthBytes / 1024}k`])
      const source = memorySource(readFileSync(path))
      const table = await findPartitions(source)
      const partition = table.partitions.find(({ name }) => name === 'models')!
      expect(await (await openFileSystem(source, { partition })).list('/')).toMatchObject([{ name: 'lost+found' }])
      await expect(openFileSystem(source)).rejects.toMatchObject({ code: 'ERR_GPUNVME_FILE_SYSTEM_UNKNOWN' })
    },
    SLOW_MS,
  )

  test.each([
    ['a FAT32', 'mkfs.vfat', ['-F', '32']],
    ['an ext4', 'mkfs.ext4', ['-q', '-F']],
  ])(
    'findPartitions returns no partitions if %s covers the whole device',
    async (_, tool, options) => {
      const path = emptyImage(join(folder, 'whole'), 64 * MIB)
      run(tool, [...options, path])
      expect(await findPartitions(memorySource(readFileSync(path)))).toEqual({
        kind: 'none',
        blockBytes: 512,
        partitions: [],
      })
    },
    SLOW_MS,
  )
})

describe('a GPT in blocks of 4096 bytes', () => {
  // Written byte by byte after UEFI 2.10 §5.3.2 and §5.3.3, with checksums by Python's zlib.crc32.
  test('a GPT in blocks of 4096 bytes is found with and without the blockBytes option', async () => {
    const bytes = fourKilobyteGpt()
    const table = {
      kind: 'GPT',
      blockBytes: 4096,
      partitions: [
        {
          index: 2,
          startBytes: 64 * 4096,
          lengthBytes: 64 * 4096,
          type: '0fc63daf-8483-4772-8e79-3d69d8477de4',
          name: 'm',
        },
      ],
    }
    expect(await findPartitions(memorySource(bytes))).toEqual(table)
    expect(await findPartitions(memorySource(bytes), { blockBytes: 4096 })).toEqual(table)
    await expect(findPartitions(memorySource(bytes), { blockBytes: 512 })).rejects.toThrow(
      expect.objectContaining({ code: 'ERR_GPUNVME_PARTITION_TABLE' }),
    )
    await expect(findPartitions(memorySource(bytes), { blockBytes: 1000 })).rejects.toThrow(RangeError)
  })
})

const ENTRIES_CRC32 = 0xe791125a
const HEADER_CRC32 = 0x99741053

function fourKilobyteGpt(): Buffer {
  const bytes = Buffer.alloc(256 * 4096)
  bytes.writeUInt16LE(0xaa55, 510)
  bytes[446 + 4] = 0xee
  const header = bytes.subarray(4096)
  header.write('EFI PART')
  header.writeUInt32LE(0x10000, 8)
  header.writeUInt32LE(92, 12)
  header.writeUInt32LE(HEADER_CRC32, 16)
  header.writeBigUInt64LE(1n, 24)
  header.writeBigUInt64LE(255n, 32)
  header.writeBigUInt64LE(6n, 40)
  header.writeBigUInt64LE(250n, 48)
  header.writeBigUInt64LE(2n, 72)
  header.writeUInt32LE(128, 80)
  header.writeUInt32LE(128, 84)
  header.writeUInt32LE(ENTRIES_CRC32, 88)
  const entry = bytes.subarray(2 * 4096 + 128)
  Buffer.from('af3dc60f838472478e793d69d8477de4', 'hex').copy(entry)
  entry.writeBigUInt64LE(64n, 32)
  entry.writeBigUInt64LE(127n, 40)
  entry.write('m', 56, 'utf16le')
  return bytes
}
