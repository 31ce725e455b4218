import { refuse } from '../layout/spec-ref.js'

/** Width of the Guard field in bits, after which the formats of protection information are named (NVM 1.2 §5.3.1). */
export type GuardBits = 16 | 32 | 64

/**
 * The Storage Tag and Reference Tag of a logical block; for a command, those of its first block (NVM 1.2 §5.3.1.4.1).
 */
export interface LogicalBlockTags {
  readonly storageTag: bigint
  readonly referenceTag: bigint
}

/** Values of (E)LBTU2, (E)LBTU3 and (E)LBTL of a command: Command Dwords 2, 3 and 14, as 32-bit numbers. */
export interface TagDwords {
  readonly CDW2: number
  readonly CDW3: number
  readonly CDW14: number
}

/** Bits of the Storage and Reference Space; Command Dwords 2, 3 and 14 hold 80 (NVM 1.2 §5.3.1). */
const spaceBits = { 16: 32, 32: 80, 64: 48 } as const
/** Minimum and maximum STS of a format (NVM 1.2 §5.3.1.4.1, Figure 157). */
const storageBits = { 16: [0, 32], 32: [16, 64], 64: [0, 48] } as const

const where = { name: 'Logical block tags', spec: 'NVM 1.2 §5.3.1.4.1' } as const

/**
 * Returns the dwords for a command's tags: LBST and ILBRT of commands that write, ELBST and EILBRT of commands that
 * read (NVM 1.2 §5.3.1.4.1, Figures 157 to 165). `STS` is the namespace's Storage Tag Size in bits.
 * @throws RangeError for an STS that the format does not have, or a tag that does not fit its bits; TypeError for a tag
 *   that is not a bigint.
 */
export function packTags(guardBits: GuardBits, STS: number, tags: LogicalBlockTags): TagDwords {
  const referenceBits = checkSizes(guardBits, STS)
  checkTag('Storage Tag', STS, tags.storageTag)
  checkTag('Reference Tag', referenceBits, tags.referenceTag)
  const space = (tags.storageTag << BigInt(referenceBits)) | tags.referenceTag
  const dword = (lsb: bigint) => Number((space >> lsb) & 0xffff_ffffn)
  return { CDW2: dword(64n), CDW3: dword(32n), CDW14: dword(0n) }
}

/**
 * Returns the tags in a command's dwords, without the bits that the format ignores (NVM 1.2 §5.3.1.4.1). `STS` is the
 * namespace's Storage Tag Size in bits.
 * @throws RangeError for an STS that the format does not have.
 */
export function unpackTags(guardBits: GuardBits, STS: number, { CDW2, CDW3, CDW14 }: TagDwords): LogicalBlockTags {
  const referenceBits = checkSizes(guardBits, STS)
  const space = (BigInt(CDW2) << 64n) | (BigInt(CDW3) << 32n) | BigInt(CDW14)
  return {
    storageTag: BigInt.asUintN(STS, space >> BigInt(referenceBits)),
    referenceTag: BigInt.asUintN(referenceBits, space),
  }
}

/** Returns the width of the Reference Tag in bits. */
function checkSizes(guardBits: GuardBits, STS: number): number {
  const [least, most] = storageBits[guardBits]
  if (!(Number.isInteger(STS) && STS >= least && STS <= most))
    refuse(where, 'Storage Tag Size', `an integer from ${least} to ${most} with ${guardBits}b guards`, STS)
  return spaceBits[guardBits] - STS
}

function checkTag(doc: string, widthBits: number, tag: bigint): void {
  if (typeof tag !== 'bigint' || BigInt.asUintN(widthBits, tag) !== tag)
    refuse(where, doc, `an integer of ${widthBits} bits`, tag, 'bigint')
}
