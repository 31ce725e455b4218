import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { open, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { findSignatures, type FoundSignature } from './signatures.js'

// Everything that wipefs of util-linux finds on an image must be found here too: on images from the tools of each
// format and, for formats without an available tool, on images with only the magic bytes.

const MIB = 1024 * 1024
const folder = scratch()
const image = join(folder, 'image')
const files = join(folder, 'files')
beforeAll(() => {
  mkdirSync(files)
  writeFileSync(join(files, 'one'), 'content')
  writeFileSync(join(folder, 'key'), 'a passphrase')
})

/** Names of this package by names of libblkid. */
const ours: Readonly<Record<string, string>> = {
  aix: 'AIX label',
  bcache: 'bcache',
  bfs: 'SCO BFS',
  BitLocker: 'BitLocker',
  btrfs: 'btrfs',
  ceph_bluestore: 'Ceph BlueStore',
  cramfs: 'cramfs',
  crypto_LUKS: 'LUKS',
  ddf_raid_member: 'DDF RAID',
  DM_snapshot_cow: 'device mapper snapshot',
  DM_verity_hash: 'dm-verity',
  dos: 'MBR',
  drbd: 'DRBD',
  drbdproxy_datalog: 'DRBD',
  erofs: 'EROFS',
  exfat: 'exFAT',
  ext4: 'ext2/3/4',
  f2fs: 'F2FS',
  gfs2: 'GFS2',
  gpt: 'GPT',
  hpt37x_raid_member: 'HighPoint RAID',
  hpt45x_raid_member: 'HighPoint RAID',
  iso9660: 'ISO 9660',
  isw_raid_member: 'Intel RAID',
  jbd: 'ext2/3/4',
  jfs: 'JFS',
  linux_raid_member: 'md RAID',
  lsi_mega_raid_member: 'LSI RAID',
  LVM1_member: 'LVM',
  minix: 'Minix',
  mpool: 'mpool',
  nilfs2: 'NILFS2',
  nss: 'NetWare NSS',
  ntfs: 'NTFS',
  nvidia_raid_member: 'NVIDIA RAID',
  ocfs: 'OCFS2',
  ocfs2: 'OCFS2',
  oracleasm: 'Oracle ASM',
  PMBR: 'MBR',
  promise_fasttrack_raid_member: 'Promise RAID',
  ReFS: 'ReFS',
  reiser4: 'ReiserFS',
  reiserfs: 'ReiserFS',
  romfs: 'romfs',
  sgi: 'SGI disklabel',
  squashfs: 'squashfs',
  squashfs3: 'squashfs',
  sun: 'Sun disklabel',
  swap: 'swap',
  swsuspend: 'hibernation image',
  ubi: 'UBI',
  ubifs: 'UBIFS',
  udf: 'UDF',
  ufs: 'UFS',
  vdo: 'VDO',
  vfat: 'FAT',
  VMFS: 'VMFS',
  VMFS_volume_member: 'VMFS',
  vxfs: 'VxFS',
  xfs: 'XFS',
  zonefs: 'zonefs',
}

function findProgram(tool: string): string | undefined {
  return ['/usr/sbin', '/sbin', '/usr/bin'].map((bin) => join(bin, tool)).find((path) => existsSync(path))
}

/** Returns the types and offsets of all signatures that wipefs finds on the image. */
function judged(): { type: string; offsetBytes: number }[] {
  const lines = execFileSync(findProgram('wipefs')!, ['--no-act', '--parsable', '--output', 'OFFSET,TYPE', image])
  return lines
    .toString()
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [offset, type] = line.split(',')
      return { type: type!, offsetBytes: Number(offset) }
    })
}

async function found(blockBytes: number): Promise<FoundSignature[]> {
  await using handle = await open(image)
  const { size } = await handle.stat()
  const readBytes = async (offsetBytes: number, lengthBytes: number): Promise<Uint8Array> => {
    expect([offsetBytes % blockBytes, lengthBytes % blockBytes]).toEqual([0, 0])
    const { buffer, bytesRead } = await handle.read(new Uint8Array(lengthBytes), 0, lengthBytes, offsetBytes)
    expect(bytesRead).toBe(lengthBytes)
    return buffer
  }
  return await findSignatures({ capacityBytes: size, blockBytes, readBytes })
}

/** Returns the names of signatures found, after checking that they include those of wipefs within a sector. */
async function compared(): Promise<string[]> {
  const theirs = judged()
  const names: string[] = []
  for (const blockBytes of [512, 4096]) {
    const mine = await found(blockBytes)
    for (const { type, offsetBytes } of theirs) {
      expect(ours[type], `a name for ${type}`).toBeDefined()
      const places = mine.find(({ name }) => name === ours[type])?.offsets ?? []
      const near = places.some((place) => Math.abs(place - offsetBytes) < 512)
      expect(near, `${type} at ${offsetBytes}, among ${JSON.stringify(mine)}`).toBe(true)
    }
    names.push(...mine.map(({ name }) => name))
  }
  return names
}

describe('finds the formats that tools create, and every signature that wipefs finds', () => {
  interface Case {
    readonly mib: number
    readonly args: readonly string[]
    readonly input?: string
    /** Whether the tool creates the file itself. */
    readonly makes?: true
  }
  const luks = ['-q', 'luksFormat', '--pbkdf-force-iterations', '1000']
  const cases: [name: string, tool: string, options: Case][] = [
    ['ext2/3/4', 'mkfs.ext4', { mib: 64, args: ['-q', '-F', image] }],
    ['ext2/3/4', 'mkfs.ext4', { mib: 64, args: ['-q', '-F', '-O', 'journal_dev', image] }],
    ['XFS', 'mkfs.xfs', { mib: 320, args: ['-q', image] }],
    ['btrfs', 'mkfs.btrfs', { mib: 256, args: ['-q', image] }],
    ['F2FS', 'mkfs.f2fs', { mib: 128, args: ['-q', image] }],
    ['NILFS2', 'mkfs.nilfs2', { mib: 130, args: ['-q', image] }],
    ['JFS', 'mkfs.jfs', { mib: 64, args: ['-q', image] }],
    ['ReiserFS', 'mkfs.reiserfs', { mib: 64, args: ['-q', '-f', '-f', image] }],
    ['OCFS2', 'mkfs.ocfs2', { mib: 256, args: ['-q', '-x', '-F', '-M', 'local', image] }],
    ['GFS2', 'mkfs.gfs2', { mib: 256, args: ['-q', '-O', '-p', 'lock_nolock', image] }],
    ['Minix', 'mkfs.minix', { mib: 16, args: ['-1', image] }],
    ['Minix', 'mkfs.minix', { mib: 16, args: ['-2', image] }],
    ['Minix', 'mkfs.minix', { mib: 16, args: ['-3', image] }],
    ['SCO BFS', 'mkfs.bfs', { mib: 16, args: [image] }],
    ['FAT', 'mkfs.vfat', { mib: 4, args: ['-F', '12', image] }],
    ['FAT', 'mkfs.vfat', { mib: 64, args: ['-F', '16', image] }],
    ['FAT', 'mkfs.vfat', { mib: 64, args: ['-F', '32', image] }],
    ['exFAT', 'mkfs.exfat', { mib: 64, args: [image] }],
    ['NTFS', 'mkfs.ntfs', { mib: 64, args: ['-F', '-q', '-f', image] }],
    ['UDF', 'mkfs.udf', { mib: 64, args: ['--blocksize=512', image] }],
    ['UDF', 'mkfs.udf', { mib: 64, args: ['--blocksize=4096', image] }],
    ['squashfs', 'mksquashfs', { mib: 0, args: [files, image, '-quiet'], makes: true }],
    ['EROFS', 'mkfs.erofs', { mib: 0, args: [image, files], makes: true }],
    ['cramfs', 'mkfs.cramfs', { mib: 0, args: [files, image], makes: true }],
    ['ISO 9660', 'xorriso', { mib: 0, args: ['-as', 'mkisofs', '-quiet', '-o', image, files], makes: true }],
    ['swap', 'mkswap', { mib: 64, args: ['--pagesize', '4096', image] }],
    ['swap', 'mkswap', { mib: 64, args: ['--pagesize', '16384', image] }],
    ['swap', 'mkswap', { mib: 64, args: ['--pagesize', '65536', image] }],
    ['GPT', 'sfdisk', { mib: 64, args: ['-q', image], input: 'label: gpt\n,\n' }],
    ['MBR', 'sfdisk', { mib: 64, args: ['-q', image], input: 'label: dos\n,\n' }],
    ['Sun disklabel', 'sfdisk', { mib: 64, args: ['-q', image], input: 'label: sun\n' }],
    ['SGI disklabel', 'sfdisk', { mib: 64, args: ['-q', image], input: 'label: sgi\n' }],
    ['LUKS', 'cryptsetup', { mib: 64, args: [...luks, '--type', 'luks1', image, join(folder, 'key')] }],
    [
      'LUKS',
      'cryptsetup',
      { mib: 64, args: [...luks, '--type', 'luks2', '--pbkdf', 'pbkdf2', image, join(folder, 'key')] },
    ],
    ['dm-verity', 'veritysetup', { mib: 64, args: ['format', '/proc/self/exe', image] }],
    ['bcache', 'make-bcache', { mib: 64, args: ['-B', image] }],
    ['DRBD', 'drbdmeta', { mib: 64, args: ['--force', '0', 'v08', image, 'internal', 'create-md'] }],
    ['DRBD', 'drbdmeta', { mib: 64, args: ['--force', '0', 'v09', image, 'internal', 'create-md', '1'] }],
  ]
  test.for(cases)('%s by %s, case %#', async ([name, tool, { mib, args, input, makes }], { skip }) => {
    const program = findProgram(tool)
    if (program === undefined) return skip(`[mkfs] ${tool} is not installed`)
    if (tool === 'drbdmeta' && process.getuid?.() !== 0) return skip('drbdmeta takes its lock only as root')
    rmSync(image, { force: true })
    if (makes === undefined) {
      writeFileSync(image, '')
      await truncate(image, mib * MIB)
    }
    execFileSync(program, args, { input: input ?? '', stdio: ['pipe', 'ignore', 'pipe'] })
    if (makes === true) await truncate(image, Math.ceil((await stat(image)).size / 4096) * 4096)
    expect(await compared()).toContain(name)
  })
})

describe('finds a file system without its first 2 MiB by its backup superblocks', () => {
  const ext = (kib: number) => ['-q', '-F', '-b', `${kib * 1024}`, image]
  const cases: [name: string, tool: string, mib: number, args: readonly string[], place: number][] = [
    ['ext2/3/4', 'mkfs.ext4', 64, ext(1), 8193 * 1024 + 0x38],
    ['ext2/3/4', 'mkfs.ext4', 64, ext(2), 32 * MIB + 0x38],
    ['ext2/3/4', 'mkfs.ext4', 256, ext(4), 128 * MIB + 0x38],
    ['XFS', 'mkfs.xfs', 1024, ['-q', image], 256 * MIB],
    ['XFS', 'mkfs.xfs', 6 * 1024 * 1024, ['-q', image], 1024 * 1024 * MIB - 4096],
    ['btrfs', 'mkfs.btrfs', 256, ['-q', image], 64 * MIB + 0x40],
  ]
  test.for(cases)('%s by %s on %i MiB', async ([name, tool, mib, args, place], { skip }) => {
    const program = findProgram(tool)
    if (program === undefined) return skip(`[mkfs] ${tool} is not installed`)
    rmSync(image, { force: true })
    writeFileSync(image, '')
    await truncate(image, mib * MIB)
    execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
    await using handle = await open(image, 'r+')
    await handle.write(new Uint8Array(2 * MIB), 0, 2 * MIB, 0)
    const places = (await found(4096)).find((one) => one.name === name)?.offsets
    expect(places).toContain(place)
    rmSync(image)
  })
})

describe('finds the signatures of wipefs from their magic bytes alone', () => {
  const end = 64 * MIB
  const bytes = (hex: string) => Buffer.from(hex, 'hex')
  const cases: [type: string, at: number, magic: string | Buffer][] = [
    ['swsuspend', 8182, 'S1SUSPEND'],
    ['swap', 8182, 'SWAP-SPACE'],
    ['ReFS', 0, '\0\0\0ReFS\0'],
    ['VMFS', 2 * MIB, bytes('5ef1ab2f')],
    ['VMFS_volume_member', MIB, bytes('0dd001c0')],
    ['ubi', 0, 'UBI#'],
    ['ubifs', 0, bytes('31181006')],
    ['vdo', 0, 'dmvdo001'],
    ['promise_fasttrack_raid_member', end - 63 * 512, 'Promise Technology, Inc.'],
    ['lsi_mega_raid_member', end - 512, '$XIDE$'],
    ['nvidia_raid_member', end - 1024, 'NVIDIA  \x1e\0\0\0'],
    ['isw_raid_member', end - 1024, 'Intel Raid ISM Cfg Sig. 1.0.00'],
    ['ddf_raid_member', end - 512, bytes('de11de11')],
    ['hpt45x_raid_member', end - 11 * 512, bytes('f316785a')],
    ['hpt37x_raid_member', 4640, bytes('f016785a')],
    ['linux_raid_member', end - 65536, bytes('fc4e2ba9000000005a000000')],
    ['ufs', 9564, bytes('54190100')],
    ['ufs', 66908, bytes('19015419')],
    ['vxfs', 1024, bytes('f5fc01a5')],
    ['nss', 4096, 'SPB5'],
    ['ceph_bluestore', 0, 'bluestore block device'],
    ['oracleasm', 32, 'ORCLDISK'],
    ['mpool', 0, 'mpoolDev'],
    ['romfs', 0, '-rom1fs-'],
    ['drbdproxy_datalog', 0, 'DRBDdlh*'],
    ['drbd', end - 4036, bytes('8374026d')],
    ['BitLocker', 0, '\xebR\x90-FVE-FS-'],
    ['reiser4', 65536, 'ReIsEr4'],
    ['ocfs', 8192, 'OracleCFS'],
    ['DM_snapshot_cow', 0, 'SnAp'],
    ['LVM1_member', 0, 'HM\x01\0'],
    ['aix', 0, bytes('c9c2d4c1')],
    ['zonefs', 0, 'SFOZ'],
    ['squashfs3', 0, 'sqsh'],
    ['crypto_LUKS', 32768, bytes(`534b554cbabe0002${'00'.repeat(248)}0000000000008000`)],
  ]
  test.for(cases)('%s at byte %i', async ([type, at, magic], { skip }) => {
    if (findProgram('wipefs') === undefined) return skip('[mkfs] wipefs is not installed')
    writeFileSync(image, '')
    await truncate(image, end)
    await using handle = await open(image, 'r+')
    await handle.write(Buffer.from(magic as string, 'latin1'), 0, undefined, at)
    // A later libblkid may also require a checksum; the bytes alone then prove nothing.
    if (!judged().some((one) => one.type === type)) return skip(`this wipefs requires more than the magic of ${type}`)
    expect(await compared()).toContain(ours[type])
  })
})
