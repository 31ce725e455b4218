import type { CommandOutcome } from '@gpunvme/nvme-spec/transport'
import { describe, expect, test } from 'vitest'
import { DeviceLostError } from '../commands/device-lost.js'
import { TransferError } from '../namespace/transfer-error.js'
import { memoryNamespace } from '../../test/memory-namespace.js'
import { ForeignDataError, guardErase, guardNamespace } from './guard.js'
import { findSignatures, SIGNATURE_SCAN_BYTES, signatureRanges } from './signatures.js'

const KIB = 1024
const MIB = 1024 * KIB

type Magic = string | readonly number[]

async function namesOn(image: Uint8Array, blockBytes?: number): Promise<string[]> {
  return (await findSignatures(memoryNamespace(image, blockBytes))).map(({ name }) => name)
}

function imageWith(lengthBytes: number, ...magics: readonly (readonly [at: number, magic: Magic])[]): Uint8Array {
  const image = new Uint8Array(lengthBytes)
  for (const [at, magic] of magics) image.set(typeof magic === 'string' ? Buffer.from(magic, 'latin1') : magic, at)
  return image
}

/** Returns xorshift32 noise, which looks like weights or an encrypted drive; the same in every run. */
function noise(lengthBytes: number, seed: number): Uint8Array {
  const words = new Uint32Array(lengthBytes / 4)
  let state = seed
  for (let index = 0; index < words.length; index++) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    words[index] = state
  }
  return new Uint8Array(words.buffer)
}

describe('finds nothing', () => {
  test('on an empty namespace', async () => {
    expect(await namesOn(new Uint8Array(4 * MIB))).toEqual([])
  })

  test('in noise, from which VeraCrypt and plain dm-crypt are indistinguishable', async () => {
    for (let seed = 1; seed <= 16; seed++) {
      expect(await namesOn(noise(4 * MIB, seed * 0x9e3779b1))).toEqual([])
    }
  })

  test('in a gpunvme image, which has only its own magic', async () => {
    expect(await namesOn(imageWith(8 * MIB, [0, 'GPUNVME\0'], [MIB, 'GPUNVME\0']))).toEqual([])
  })

  test('on a namespace of one block', async () => {
    expect(await namesOn(new Uint8Array(512))).toEqual([])
    expect(await namesOn(new Uint8Array(4096), 4096)).toEqual([])
  })
})

const end = 8 * MIB
// Magic bytes and offsets from the documentation of each format.
const places: [name: string, at: number, magic: Magic][] = [
  ['GPT', 512, 'EFI PART'],
  ['GPT', 4096, 'EFI PART'],
  ['GPT', end - 512, 'EFI PART'],
  ['GPT', end - 4096, 'EFI PART'],
  ['MBR', 510, [0x55, 0xaa]],
  ['ext2/3/4', 1080, [0x53, 0xef, 0x01, 0x00]],
  ['XFS', 0, 'XFSB'],
  ['XFS log', 0, [0xfe, 0xed, 0xba, 0xbe]],
  ['btrfs', 65600, '_BHRfS_M'],
  ['F2FS', 1024, [0x10, 0x20, 0xf5, 0xf2]],
  ['F2FS', 5120, [0x10, 0x20, 0xf5, 0xf2]],
  ['bcachefs', 4120, [0xc6, 0x85, 0x73, 0xf6, 0x66, 0xce, 0x90, 0xa9, 0xd9, 0x6a, 0x60, 0xcf, 0x80, 0x3d, 0xf7, 0xef]],
  ['bcachefs', 2097176, [0xc6, 0x85, 0x73, 0xf6, 0x66, 0xce, 0x90, 0xa9]],
  ['bcachefs', end - MIB + 24, [0xc6, 0x85, 0x73, 0xf6, 0x66, 0xce, 0x90, 0xa9]],
  ['bcache', 4120, [0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca]],
  ['NTFS', 3, 'NTFS    '],
  ['exFAT', 3, 'EXFAT   '],
  ['BitLocker', 3, '-FVE-FS-'],
  ['APFS', 32, 'NXSB'],
  ['HFS+', 1024, 'H+\0\x04'],
  ['HFS+', 1024, 'HX\0\x05'],
  ['BeFS', 32, 'BFS1'],
  ['LUKS', 0, [0x4c, 0x55, 0x4b, 0x53, 0xba, 0xbe]],
  ...[0x4000, 0x8000, 0x10000, 0x20000, 0x40000, 0x80000, 0x100000, 0x200000, 0x400000].map(
    (at): [string, number, Magic] => ['LUKS', at, [0x53, 0x4b, 0x55, 0x4c, 0xba, 0xbe]],
  ),
  ['LVM', 0, 'LABELONE'],
  ['LVM', 512, 'LABELONE'],
  ['LVM', 1024, 'LABELONE'],
  ['LVM', 1536, 'LABELONE'],
  ['md RAID', 0, [0xfc, 0x4e, 0x2b, 0xa9]],
  ['md RAID', 4096, [0xfc, 0x4e, 0x2b, 0xa9]],
  ['md RAID', end - 8192, [0xfc, 0x4e, 0x2b, 0xa9]],
  ['md RAID', end - 65536, [0xfc, 0x4e, 0x2b, 0xa9]],
  ['md RAID', end - 65536, [0xa9, 0x2b, 0x4e, 0xfc]],
  ['Intel RAID', end - 1024, 'Intel Raid ISM Cfg Sig. 1.3.00'],
  ['Intel RAID', end - 8192, 'Intel Raid ISM Cfg Sig. 1.3.00'],
  ['DDF RAID', end - 512, [0xde, 0x11, 0xde, 0x11]],
  ['DDF RAID', end - 4096, [0x11, 0xde, 0x11, 0xde]],
  ['DRBD', end - 4036, [0x83, 0x74, 0x02, 0x6b]],
  ['DRBD', end - 4036, [0x83, 0x74, 0x02, 0x6d]],
  // L0 to L3: uberblocks from 128 KiB into each on, the list of names and values 16 KiB into it.
  ['ZFS', 136192, [0x0c, 0xb1, 0xba, 0, 0, 0, 0, 0]],
  ['ZFS', 393216, [0x0c, 0xb1, 0xba, 0, 0, 0, 0, 0]],
  ['ZFS', end - 384 * KIB, [0, 0, 0, 0, 0, 0xba, 0xb1, 0x0c]],
  ['ZFS', end - KIB, [0x0c, 0xb1, 0xba, 0, 0, 0, 0, 0]],
  ['ZFS', 16384, [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]],
  ['ZFS', 278528, [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]],
  ['ZFS', end - 507904, [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]],
  ['ZFS', end - 245760, [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]],
  ...[4086, 8182, 16374, 32758, 65526].flatMap((at): [string, number, Magic][] => [
    ['swap', at, 'SWAPSPACE2'],
    ['swap', at, 'SWAP-SPACE'],
    ['hibernation image', at, 'S1SUSPEND'],
  ]),
  ['Stratis', 516, '!Stra0tis\x86\xff\x02^\x41rh'],
  ['raw GGUF model', 0, 'GGUF'],
]
test.each(places)('finds %s at byte %i', async (name, at, magic) => {
  const found = [{ name, offsetBytes: at, offsets: [at] }]
  expect(await findSignatures(memoryNamespace(imageWith(end, [at, magic]), 512))).toEqual(found)
  expect(await findSignatures(memoryNamespace(imageWith(end, [at, magic]), 4096))).toEqual(found)
})

test('finds trailing signatures if the size is not a multiple of what a format rounds to', async () => {
  const length = end + 200 * KIB + 7 * 512
  // 8 MiB + 200 KiB + 3.5 KiB: md 0.90 rounds down to 64 KiB, 1.0 and NILFS2 to 4 KiB, ZFS to 256 KiB.
  for (const [name, at, magic] of [
    ['md RAID', 8519680, [0xfc, 0x4e, 0x2b, 0xa9]],
    ['md RAID', 8585216, [0xfc, 0x4e, 0x2b, 0xa9]],
    ['NILFS2', 8589312, [2, 0, 0, 0, 0, 0, 0x34, 0x34]],
    ['ZFS', 8388608 - 1024, [0x0c, 0xb1, 0xba, 0, 0, 0, 0, 0]],
    ['GPT', length - 512, 'EFI PART'],
  ] satisfies [string, number, Magic][]) {
    expect(await findSignatures(memoryNamespace(imageWith(length, [at, magic])))).toMatchObject([
      { name, offsets: [at] },
    ])
  }
})

test('reports each format once, with the offsets of all copies', async () => {
  const image = imageWith(
    8 * MIB,
    [512, 'EFI PART'],
    [8 * MIB - 512, 'EFI PART'],
    [510, [0x55, 0xaa]],
    [136192, [0x0c, 0xb1, 0xba, 0, 0, 0, 0, 0]],
    [137216, [0x0c, 0xb1, 0xba, 0, 0, 0, 0, 0]],
    [393216, [0x0c, 0xb1, 0xba, 0, 0, 0, 0, 0]],
  )
  const namespace = memoryNamespace(image)
  const refusal = guardNamespace(namespace, { serial: '' })
  await expect(refusal).rejects.toThrow(ForeignDataError)
  await expect(refusal).rejects.toThrow(
    [
      'Refused to write to namespace 1: it holds other data',
      '  GPT (signatures at bytes 512 and 8388096)',
      '  MBR (signature at byte 510)',
      '  ZFS (signatures at byte 136192 and at 2 more places)',
      "  Try: pass { overwrite: ['GPT', 'MBR', 'ZFS'] } if it may be lost, or use an empty drive",
    ].join('\n'),
  )
  await expect(guardNamespace(namespace, { serial: '', overwrite: ['GPT', 'ZFS'] })).rejects.toMatchObject({
    found: [{ name: 'MBR', offsetBytes: 510 }],
  })
  await guardNamespace(namespace, { serial: '', overwrite: ['GPT', 'ZFS', 'MBR'] })
})

test('searches a namespace that is smaller than the reach of the table', async () => {
  expect(await namesOn(imageWith(64 * KIB, [0, 'XFSB']))).toEqual(['XFS'])
})

test.each([512, 4096])('reads few, small ranges of whole %i-byte blocks', (blockBytes) => {
  const capacityBytes = 2 ** 40
  const ranges = signatureRanges({ capacityBytes, blockBytes })
  for (const { offsetBytes, lengthBytes } of ranges) {
    expect([offsetBytes % blockBytes, lengthBytes % blockBytes]).toEqual([0, 0])
    expect(offsetBytes + lengthBytes).toBeLessThanOrEqual(capacityBytes)
  }
  expect(ranges.length).toBeLessThanOrEqual(40)
  expect(ranges.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0)).toBeLessThan(2 * MIB)
  // Ranges far from both ends hold backup copies of some formats.
  const far = ranges
    .map(({ offsetBytes }) => offsetBytes)
    .filter((at) => at >= SIGNATURE_SCAN_BYTES && at < capacityBytes - SIGNATURE_SCAN_BYTES)
  // Backups of ext2/3/4 in groups 1 to 49, for blocks of three sizes; of XFS in groups 1 to 3; of LUKS, btrfs and VMFS.
  // Group 1 of this XFS and the third btrfs superblock share one range.
  expect(far).toHaveLength(24 + 3 + 4 - 1)
  expect(far).toEqual(expect.arrayContaining([2, 4, 64, 128, 256 * KIB].map((mib) => mib * MIB)))
})

describe('before a namespace is erased', () => {
  const unreadable = memoryNamespace(new Uint8Array(64 * KIB))
  const refusal = new ForeignDataError(9, []) // any GpuNvmeError
  unreadable.readBytes = () => Promise.reject(refusal)

  test('data found must be named in overwrite, as for a write', async () => {
    const namespace = memoryNamespace(imageWith(64 * KIB, [0, 'XFSB']))
    await expect(guardErase(namespace, { serial: '' })).rejects.toThrow('XFS (signature at byte 0)')
    await guardErase(namespace, { serial: '', overwrite: ['XFS'] })
  })

  test('unreadable data must be named too, which does not permit writes', async () => {
    await expect(guardErase(unreadable, { serial: '' })).rejects.toThrow("{ overwrite: ['unreadable data'] }")
    await expect(guardErase(unreadable, { serial: '' })).rejects.toMatchObject({ cause: refusal })
    await guardErase(unreadable, { serial: '', overwrite: ['unreadable data'] })
    await expect(guardNamespace(unreadable, { serial: '', overwrite: ['unreadable data'] })).rejects.toBe(refusal)
  })

  const plan = {
    ...({ operation: 'read', nsid: 9, blockBytes: 512, commands: 1 } as const),
    ...{
      slba: Float64Array.of(0),
      blocks: Uint32Array.of(1),
      offsetBytes: Float64Array.of(0),
      queue: Uint16Array.of(0),
    },
  }
  const failed = (outcome: CommandOutcome['outcome']) =>
    new TransferError(plan, {
      ...{ commands: 1, succeeded: 0, bytes: 0, startNs: 0, endNs: 0 },
      failures: [{ command: 0, qid: 1, cid: 0, outcome }],
    })

  test.each([
    ['DeviceLostError', new DeviceLostError('sim', 0xffff_ffff)],
    ['TransferError', failed({ kind: 'device-lost', csts: 3 })],
  ])('reports the loss of the controller unchanged, not as unknown data: %s', async (_, loss) => {
    const lost = memoryNamespace(new Uint8Array(64 * KIB))
    lost.readBytes = () => Promise.reject(loss)
    await expect(guardErase(lost, { serial: '', overwrite: ['unreadable data'] })).rejects.toBe(loss)
  })

  test('a read that times out leaves the data unknown', async () => {
    const silent = memoryNamespace(new Uint8Array(64 * KIB))
    silent.readBytes = () => Promise.reject(failed({ kind: 'timeout', afterNs: 1e9 }))
    await expect(guardErase(silent, { serial: '' })).rejects.toThrow('unreadable data')
  })
})
