import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { memoryNamespace } from '../../test/memory-namespace.js'
import { findSignatures } from './signatures.js'

const MIB = 1024 * 1024
const folder = mkdtempSync(join(tmpdir(), 'gpunvme-signatures-'))
afterAll(() => {
  rmSync(folder, { recursive: true })
})

async function namesOn(image: Uint8Array, blockBytes?: number): Promise<string[]> {
  return (await findSignatures(memoryNamespace(image, blockBytes))).map(({ name }) => name)
}

function imageWith(lengthBytes: number, at: number, magic: string | readonly number[]): Uint8Array {
  const image = new Uint8Array(lengthBytes)
  image.set(typeof magic === 'string' ? Buffer.from(magic, 'latin1') : magic, at)
  return image
}

test('finds nothing on an empty namespace, nor in random-looking data', async () => {
  expect(await namesOn(new Uint8Array(4 * MIB))).toEqual([])
  expect(await namesOn(Uint8Array.from({ length: 4 * MIB }, (_, index) => (index * 197) & 0xff))).toEqual([])
})

// Bytes as the formats' documents have them, at the places where they have them.
test.each([
  ['GPT', 512, 'EFI PART'],
  ['GPT', 8 * MIB - 512, 'EFI PART'],
  ['MBR', 510, [0x55, 0xaa]],
  ['ext2/3/4', 1080, [0x53, 0xef]],
  ['XFS', 0, 'XFSB'],
  ['btrfs', 65600, '_BHRfS_M'],
  ['NTFS', 3, 'NTFS    '],
  ['LUKS', 0, [0x4c, 0x55, 0x4b, 0x53, 0xba, 0xbe]],
  ['LVM', 512, 'LABELONE'],
  ['md RAID', 4096, [0xfc, 0x4e, 0x2b, 0xa9]],
  ['md RAID', 8 * MIB - 65536, [0xfc, 0x4e, 0x2b, 0xa9]],
  ['ZFS', 128 * 1024 + 5 * 1024, [0x0c, 0xb1, 0xba, 0x00]],
  ['swap', 4086, 'SWAPSPACE2'],
  ['raw GGUF model', 0, 'GGUF'],
])('finds %s at byte %i', async (name, at, magic) => {
  expect(await namesOn(imageWith(8 * MIB, at, magic))).toEqual([name])
  expect(await namesOn(imageWith(8 * MIB, at, magic), 4096)).toEqual([name])
})

test('works on a namespace smaller than the reach of the table', async () => {
  expect(await namesOn(imageWith(64 * 1024, 0, 'XFSB'))).toEqual(['XFS'])
})

describe('agrees with the tools that write them', () => {
  const cases: [name: string, tool: string, args: (image: string) => string[], input?: string][] = [
    ['ext2/3/4', 'mkfs.ext4', (image) => ['-q', '-F', image]],
    ['swap', 'mkswap', (image) => [image]],
    ['GPT', 'sfdisk', (image) => ['-q', image], 'label: gpt\n,\n'],
    ['MBR', 'sfdisk', (image) => ['-q', image], 'label: dos\n,\n'],
    ['FAT', 'mkfs.vfat', (image) => [image]],
    ['XFS', 'mkfs.xfs', (image) => ['-q', image]],
  ]
  test.for(cases)('%s by %s', async ([name, tool, args, input], { skip }) => {
    const program = ['/usr/sbin', '/sbin', '/usr/bin'].map((bin) => join(bin, tool)).find((path) => existsSync(path))
    if (program === undefined) return skip(`[mkfs] ${tool} is not installed`)
    const image = join(folder, `${tool}.img`)
    writeFileSync(image, '')
    truncateSync(image, tool === 'mkfs.xfs' ? 320 * MIB : 64 * MIB)
    execFileSync(program, args(image), { input, stdio: ['pipe', 'ignore', 'pipe'] })
    expect(await namesOn(readFileSync(image))).toContain(name)
  })
})
