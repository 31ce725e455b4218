import type { Volume } from '../volume.js'

/** s_feature_compat, s_feature_incompat and s_feature_ro_compat: Linux 6.1 Documentation/filesystems/ext4/super.rst. */
export const COMPAT = { SPARSE_SUPER2: 0x200 } as const

/** Features that a reader must know. */
export const INCOMPAT = {
  COMPRESSION: 0x1,
  FILETYPE: 0x2,
  RECOVER: 0x4,
  JOURNAL_DEV: 0x8,
  META_BG: 0x10,
  EXTENTS: 0x40,
  '64BIT': 0x80,
  MMP: 0x100,
  FLEX_BG: 0x200,
  EA_INODE: 0x400,
  DIRDATA: 0x1000,
  CSUM_SEED: 0x2000,
  LARGEDIR: 0x4000,
  INLINE_DATA: 0x8000,
  ENCRYPT: 0x10000,
  CASEFOLD: 0x20000,
} as const

/** Features that a reader may ignore. Only those that matter here are listed. */
export const RO_COMPAT = { SPARSE_SUPER: 0x1, METADATA_CSUM: 0x400, ORPHAN_PRESENT: 0x10000 } as const

type Incompat = keyof typeof INCOMPAT

/**
 * Features that do not change reading, or that are checked where they matter: ENCRYPT for each file. CASEFOLD is
 * ignored, since exact spellings are also found in such directories.
 */
const READ: ReadonlySet<Incompat> = new Set([
  'FILETYPE',
  'RECOVER',
  'META_BG',
  'EXTENTS',
  '64BIT',
  'FLEX_BG',
  'EA_INODE',
  'CSUM_SEED',
  'LARGEDIR',
  'INLINE_DATA',
  'ENCRYPT',
  'CASEFOLD',
])

/** @throws FileSystemError that names the unsupported features. */
export function checkFeatures(volume: Volume, incompat: number): void {
  let unknown = incompat
  const refused: string[] = []
  for (const [name, bit] of Object.entries(INCOMPAT) as [Incompat, number][]) {
    unknown &= ~bit
    if (incompat & bit && !READ.has(name)) refused.push(name)
  }
  if (unknown !== 0) refused.push(`0x${(unknown >>> 0).toString(16)}`)
  if (refused.length > 0) {
    throw volume.error('UNSUPPORTED', `it is an ext4 with unsupported features: ${refused.join(', ')}`)
  }
  // Without FILETYPE, a directory entry has 16 bits for the length of its name.
  if (!(incompat & INCOMPAT.FILETYPE)) throw volume.error('UNSUPPORTED', 'it is an ext2 without FILETYPE')
}
