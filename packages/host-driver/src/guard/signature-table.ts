/** A signature of a format: a magic and the offsets at which the format writes it. */
export interface Signature {
  /** Name in `overwrite`. */
  readonly name: string
  /** Byte offsets from the start of the namespace, or from its end if negative; or a function of its capacity. */
  readonly at: readonly number[] | ((capacityBytes: number) => readonly number[])
  /** Bytes as numbers, `ANY` for one that may be anything; a string is Latin-1. */
  readonly magic: string | readonly number[]
  /** Unit to which the end is rounded down before a negative offset is counted from it. Default: 512. */
  readonly endUnitBytes?: number
}

/** Byte of a magic with any value. */
export const ANY = -1

const KIB = 1024
const MIB = 1024 * KIB
const TIB = 1024 * 1024 * MIB
const any = (length: number) => Array.from({ length }, () => ANY)
const every = (step: number, from: number, to: number) =>
  Array.from({ length: (to - from) / step }, (_, index) => from + index * step)

// Page sizes of machines that make swap: the magic ends the first page.
const pageEnds = [4, 8, 16, 32, 64].map((kib) => kib * KIB - 10)
const zfsLabels = [0, 256 * KIB, -512 * KIB, -256 * KIB]
const mdMagic = [0xfc, 0x4e, 0x2b, 0xa9]
const bcacheMagic = [0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca]
const bcachefsMagic = [0xc6, 0x85, 0x73, 0xf6, 0x66, 0xce, 0x90, 0xa9]
const bsdMagic = [0x57, 0x45, 0x56, 0x82]

/**
 * Backup superblocks of ext2/3/4 with this block size, where mke2fs places them: in group 1 and the groups that are powers of
 * 3, 5 and 7. A group has as many blocks as a block has bits. Matches the magic, s_state and the group number at 5Ah.
 */
function extBackups(blockBytes: number): Signature[] {
  // With 1 KiB blocks, block 0 is the boot sector and groups begin at block 1.
  const firstBlock = blockBytes === KIB ? 1 : 0
  return [1, 3, 5, 7, 9, 25, 27, 49].map((group) => ({
    name: 'ext2/3/4',
    at: [(firstBlock + group * 8 * blockBytes) * blockBytes + 0x38],
    magic: [0x53, 0xef, ANY, 0, ...any(30), group, 0],
  }))
}

/**
 * Offsets of the superblocks of allocation groups 1 to 3 that mkfs.xfs writes on a whole drive with 4096-byte blocks: it
 * makes four groups below 4 TiB, and groups of 1 TiB minus one block from 4 TiB on. RAID layouts differ.
 */
function xfsGroups(capacityBytes: number): number[] {
  const blocks = Math.floor(capacityBytes / 4096)
  const groupBytes = Math.min(Math.ceil(blocks / 4) * 4096, TIB - 4096)
  return groupBytes === 0 ? [] : [1, 2, 3].map((group) => group * groupBytes)
}

/**
 * All signatures. Offsets and magics are those of the formats' documents and of libblkid of util-linux (August 2026);
 * tests compare them with wipefs. If a magic has at most two bytes, adjacent bytes with constant values are
 * included. Random data may match two bytes, which costs a name in `overwrite`; a missed signature costs the data.
 *
 * Not included, since they look like random bytes: VeraCrypt, plain dm-crypt, LUKS with a detached header. Also not
 * included: file systems inside partitions (the partition table is reported), and formats that only two bytes and a
 * computation identify (System V and Xenix file systems, RAIDs of VIA and JMicron).
 */
export const signatureTable: readonly Signature[] = [
  // Partition tables
  { name: 'GPT', at: [512, 4096, -512, -4096], magic: 'EFI PART' },
  { name: 'MBR', at: [510], magic: [0x55, 0xaa] },
  { name: 'Apple partition map', at: [512, 2048, 4096], magic: 'PM\0\0' },
  { name: 'Amiga partition table', at: every(512, 0, 16 * 512), magic: 'RDSK' },
  { name: 'BSD disklabel', at: [64, 128, 512], magic: bsdMagic },
  { name: 'SGI disklabel', at: [0], magic: [0x0b, 0xe5, 0xa9, 0x41] },
  { name: 'Sun disklabel', at: [508], magic: [0xda, 0xbe] },
  { name: 'AIX label', at: [0], magic: [0xc9, 0xc2, 0xd4, 0xc1] },

  // File systems of Linux
  // Two bytes, then s_state, of which only the low byte is used.
  { name: 'ext2/3/4', at: [0x438], magic: [0x53, 0xef, ANY, 0] },
  ...[1, 2, 4].flatMap((kib) => extBackups(kib * KIB)),
  { name: 'XFS', at: [0], magic: 'XFSB' },
  { name: 'XFS', at: xfsGroups, magic: 'XFSB' },
  { name: 'XFS log', at: [0], magic: [0xfe, 0xed, 0xba, 0xbe] },
  { name: 'btrfs', at: [64 * KIB + 0x40, 64 * MIB + 0x40, 256 * KIB * MIB + 0x40], magic: '_BHRfS_M' },
  { name: 'F2FS', at: [KIB, 5 * KIB], magic: [0x10, 0x20, 0xf5, 0xf2] },
  { name: 'bcachefs', at: [4096 + 24, 2 * MIB + 24], magic: bcachefsMagic },
  { name: 'bcachefs', at: [-MIB + 24], magic: bcachefsMagic },
  // Revision 2.0 and the magic, 3434h.
  { name: 'NILFS2', at: [KIB, -4096], magic: [2, 0, 0, 0, 0, 0, 0x34, 0x34], endUnitBytes: 4096 },
  { name: 'EROFS', at: [KIB], magic: [0xe2, 0xe1, 0xf5, 0xe0] },
  { name: 'squashfs', at: [0], magic: 'hsqs' },
  { name: 'squashfs', at: [0], magic: 'sqsh' },
  { name: 'cramfs', at: [0, 512], magic: [0x45, 0x3d, 0xcd, 0x28] },
  { name: 'cramfs', at: [0, 512], magic: [0x28, 0xcd, 0x3d, 0x45] },
  { name: 'romfs', at: [0], magic: '-rom1fs-' },
  { name: 'zonefs', at: [0], magic: 'SFOZ' },
  { name: 'UBI', at: [0], magic: 'UBI#' },
  { name: 'UBIFS', at: [0], magic: [0x31, 0x18, 0x10, 0x06] },
  { name: 'ReiserFS', at: [8 * KIB + 0x34, 8 * KIB + 20, 64 * KIB + 0x34], magic: 'ReIsErFs' },
  { name: 'ReiserFS', at: [64 * KIB + 0x34], magic: 'ReIsEr2Fs' },
  { name: 'ReiserFS', at: [64 * KIB + 0x34], magic: 'ReIsEr3Fs' },
  { name: 'ReiserFS', at: [64 * KIB], magic: 'ReIsEr4' },
  { name: 'OCFS2', at: [KIB, 2 * KIB, 4 * KIB, 8 * KIB], magic: 'OCFSV2' },
  { name: 'OCFS2', at: [8 * KIB], magic: 'OracleCFS' },
  { name: 'GFS2', at: [64 * KIB], magic: [0x01, 0x16, 0x19, 0x70] },
  { name: 'scoutfs', at: [64 * KIB + 4], magic: [0x8b, 0x42, 0x3c, 0x10] },
  // From s_log_zone_size, which is 0, over s_max_size to the magic: versions 1 and 2, with names of 14 and 30 bytes.
  { name: 'Minix', at: [KIB + 10], magic: [0, 0, ...any(4), 0x7f, 0x13] },
  { name: 'Minix', at: [KIB + 10], magic: [0, 0, ...any(4), 0x8f, 0x13] },
  { name: 'Minix', at: [KIB + 10], magic: [0, 0, ...any(4), 0x68, 0x24] },
  { name: 'Minix', at: [KIB + 10], magic: [0, 0, ...any(4), 0x78, 0x24] },
  // Version 3: the magic and two bytes of padding.
  { name: 'Minix', at: [KIB + 0x18], magic: [0x5a, 0x4d, 0, 0] },
  { name: 'swap', at: pageEnds, magic: 'SWAPSPACE2' },
  { name: 'swap', at: pageEnds, magic: 'SWAP-SPACE' },
  { name: 'hibernation image', at: pageEnds, magic: 'S1SUSPEND' },
  { name: 'hibernation image', at: pageEnds, magic: 'S2SUSPEND' },
  { name: 'hibernation image', at: pageEnds, magic: 'ULSUSPEND' },
  { name: 'hibernation image', at: pageEnds, magic: 'LINHIB0001' },

  // File systems of other systems
  { name: 'NTFS', at: [3], magic: 'NTFS    ' },
  { name: 'ReFS', at: [0], magic: '\0\0\0ReFS\0' },
  { name: 'exFAT', at: [3], magic: 'EXFAT   ' },
  { name: 'FAT', at: [54], magic: 'FAT1' },
  { name: 'FAT', at: [54], magic: 'FAT     ' },
  { name: 'FAT', at: [54], magic: 'MSDOS' },
  { name: 'FAT', at: [82], magic: 'FAT32   ' },
  { name: 'FAT', at: [82], magic: 'MSWIN' },
  { name: 'HPFS', at: [8 * KIB], magic: [0x49, 0xe8, 0x95, 0xf9] },
  { name: 'APFS', at: [32], magic: 'NXSB' },
  { name: 'HFS+', at: [KIB], magic: 'H+\0' },
  { name: 'HFS+', at: [KIB], magic: 'HX\0' },
  { name: 'HFS', at: [KIB], magic: 'BD' },
  { name: 'UFS', at: [0, 8 * KIB, 64 * KIB, 256 * KIB].map((at) => at + 1372), magic: [0x54, 0x19, 0x01, 0x00] },
  { name: 'UFS', at: [0, 8 * KIB, 64 * KIB, 256 * KIB].map((at) => at + 1372), magic: [0x00, 0x01, 0x19, 0x54] },
  { name: 'UFS', at: [0, 8 * KIB, 64 * KIB, 256 * KIB].map((at) => at + 1372), magic: [0x19, 0x01, 0x54, 0x19] },
  { name: 'UFS', at: [0, 8 * KIB, 64 * KIB, 256 * KIB].map((at) => at + 1372), magic: [0x19, 0x54, 0x01, 0x19] },
  { name: 'JFS', at: [32 * KIB], magic: 'JFS1' },
  { name: 'VxFS', at: [KIB], magic: [0xf5, 0xfc, 0x01, 0xa5] },
  { name: 'VxFS', at: [8 * KIB], magic: [0xa5, 0x01, 0xfc, 0xf5] },
  { name: 'BeFS', at: [32, 512 + 32], magic: 'BFS1' },
  { name: 'BeFS', at: [32, 512 + 32], magic: '1SFB' },
  { name: 'SCO BFS', at: [0], magic: [0xce, 0xfa, 0xad, 0x1b] },
  { name: 'NetWare NSS', at: [4 * KIB], magic: 'SPB5' },
  { name: 'VMFS', at: [MIB], magic: [0x0d, 0xd0, 0x01, 0xc0] },
  { name: 'VMFS', at: [2 * MIB], magic: [0x5e, 0xf1, 0xab, 0x2f] },
  { name: 'EXFS', at: [0], magic: 'EXFS' },
  { name: 'ISO 9660', at: [32 * KIB + 1], magic: 'CD001' },
  { name: 'ISO 9660', at: [32 * KIB + 9], magic: 'CDROM' },
  // A volume recognition sequence: descriptors of 2 KiB, or of a block if that is larger.
  { name: 'UDF', at: every(2 * KIB, 32 * KIB + 1, 64 * KIB + 1), magic: 'NSR02' },
  { name: 'UDF', at: every(2 * KIB, 32 * KIB + 1, 64 * KIB + 1), magic: 'NSR03' },
  { name: 'UDF', at: [32 * KIB + 1], magic: 'BEA01' },

  // Encryption
  { name: 'LUKS', at: [0], magic: [0x4c, 0x55, 0x4b, 0x53, 0xba, 0xbe] },
  // The second header of LUKS2 begins at the end of the first, which has one of these sizes.
  {
    name: 'LUKS',
    at: [16, 32, 64, 128, 256, 512, 1024, 2048, 4096].map((kib) => kib * KIB),
    magic: [0x53, 0x4b, 0x55, 0x4c, 0xba, 0xbe],
  },
  { name: 'BitLocker', at: [3], magic: '-FVE-FS-' },
  // Apple's Core Storage: version 1 at byte 8, 'CS' and the only checksum type at byte 88.
  { name: 'FileVault 2', at: [8], magic: [1, 0, ...any(78), 0x43, 0x53, 1, 0, 0, 0] },

  // Volume managers and layers below them
  { name: 'LVM', at: [0, 512, 1024, 1536], magic: 'LABELONE' },
  { name: 'LVM', at: [0], magic: 'HM\u0001\0' },
  { name: 'LVM', at: [0], magic: 'HM\u0002\0' },
  { name: 'device mapper snapshot', at: [0], magic: 'SnAp' },
  { name: 'dm-verity', at: [0], magic: 'verity\0\0' },
  { name: 'dm-integrity', at: [0], magic: 'integrt\0' },
  { name: 'VDO', at: [0], magic: 'dmvdo001' },
  { name: 'Stratis', at: [512 + 4, 9 * 512 + 4], magic: '!Stra0tis\x86\xff\x02^\x41rh' },
  { name: 'mpool', at: [0], magic: 'mpoolDev' },
  { name: 'bcache', at: [4096 + 24], magic: bcacheMagic },
  { name: 'DRBD', at: [60, -4096 + 60], magic: [0x83, 0x74, 0x02, 0x6b], endUnitBytes: 4096 },
  { name: 'DRBD', at: [60, -4096 + 60], magic: [0x83, 0x74, 0x02, 0x6c], endUnitBytes: 4096 },
  { name: 'DRBD', at: [60, -4096 + 60], magic: [0x83, 0x74, 0x02, 0x6d], endUnitBytes: 4096 },
  { name: 'DRBD', at: [0], magic: '$DRBDmgr=q' },
  { name: 'DRBD', at: [0], magic: 'DRBDdlh*' },
  { name: 'Ceph BlueStore', at: [0], magic: 'bluestore block device' },
  { name: 'Oracle ASM', at: [32], magic: 'ORCLDISK' },
  // Labels L0 to L3, by their lists of names and values (XDR, either byte order, version 0, unique names) and by their
  // uberblocks, at most one per KiB.
  {
    name: 'ZFS',
    at: zfsLabels.map((label) => label + 16 * KIB),
    magic: [1, ANY, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
    endUnitBytes: 256 * KIB,
  },
  {
    name: 'ZFS',
    at: zfsLabels.flatMap((label) => every(KIB, label + 128 * KIB, label + 256 * KIB)),
    magic: [0x0c, 0xb1, 0xba, 0, 0, 0, 0, 0],
    endUnitBytes: 256 * KIB,
  },
  {
    name: 'ZFS',
    at: zfsLabels.flatMap((label) => every(KIB, label + 128 * KIB, label + 256 * KIB)),
    magic: [0, 0, 0, 0, 0, 0xba, 0xb1, 0x0c],
    endUnitBytes: 256 * KIB,
  },

  // RAID
  // Versions 1.1 and 1.2 at the start, 1.0 in the 8 KiB before a multiple of 4 KiB, 0.90 in the last whole 64 KiB.
  { name: 'md RAID', at: [0, 4096, -8 * KIB], magic: mdMagic, endUnitBytes: 4 * KIB },
  { name: 'md RAID', at: [-64 * KIB], magic: mdMagic, endUnitBytes: 64 * KIB },
  { name: 'md RAID', at: [-64 * KIB], magic: mdMagic.toReversed(), endUnitBytes: 64 * KIB },
  // Two blocks before the end, and the last but one.
  { name: 'Intel RAID', at: [-2 * 512, -2 * 4096], magic: 'Intel Raid ISM Cfg Sig. ' },
  { name: 'DDF RAID', at: [-512, -257 * 512, -4096, -257 * 4096], magic: [0xde, 0x11, 0xde, 0x11] },
  { name: 'DDF RAID', at: [-512, -257 * 512, -4096, -257 * 4096], magic: [0x11, 0xde, 0x11, 0xde] },
  { name: 'LSI RAID', at: [-512], magic: '$XIDE$' },
  { name: 'NVIDIA RAID', at: [-2 * 512], magic: 'NVIDIA  ' },
  { name: 'Adaptec RAID', at: [-512], magic: [0x37, 0xfc, 0x4d, 0x1e] },
  { name: 'Silicon Image RAID', at: [-512 + 0x60], magic: [0, 0, 0, 0x2f] },
  { name: 'HighPoint RAID', at: [-11 * 512], magic: [0xf3, 0x16, 0x78, 0x5a] },
  { name: 'HighPoint RAID', at: [-11 * 512, 4096 + 544], magic: [0xfd, 0x16, 0x78, 0x5a] },
  { name: 'HighPoint RAID', at: [4096 + 544], magic: [0xf0, 0x16, 0x78, 0x5a] },
  {
    name: 'Promise RAID',
    at: [16, 63, 255, 256, 399, 591, 675, 735, 911, 951, 974, 991, 3087].map((sectors) => -sectors * 512),
    magic: 'Promise Technology, Inc.',
  },

  // Data that is often written to a drive without a file system
  { name: 'raw GGUF model', at: [0], magic: 'GGUF' },
]
