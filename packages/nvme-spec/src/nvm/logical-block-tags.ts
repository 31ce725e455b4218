import { refuse } from '../layout/spec-ref.js'

/** Bits of the Guard field, which is what the formats of protection information are called by (NVM 1.2 §5.3.1). */
export type GuardBits = 16 | 32 | 64

/**
 * Both tags of a logical block: the Storage Tag, and the Reference Tag, of a command that of its first block (NVM 1.2
 * §5.3.1.4.1).
 */
export interface LogicalBlockTags {
  readonly storageTag: bigint
  readonly referenceTag: bigint
}

/** What (E)LBTU2, (E)LBTU3 and (E)LBTL of a command are: Command Dwords 2, 3 and 14, as 32-bit numbers. */
export interface TagDwords {
  readonly CDW2: number
  readonly CDW3: number
  readonly CDW14: number
}

/** Bits of the Storage and Reference Space; 80 are what Command Dwords 2, 3 and 14 hold (NVM 1.2 §5.3.1). */
const spaceBits = { 16: 32, 32: 80, 64: 48 } as const
/** The least and the greatest STS of a format (NVM 1.2 §5.3.1.4.1, Figure 157). */
const storageBits = { 16: [0, 32], 32: [16, 64], 64: [0, 48] } as const

const where = { name: 'Logical block tags', spec: 'NVM 1.2 §5.3.1.4.1' } as const

/**
 * The dwords that give a command its tags: LBST and ILBRT of what writes, ELBST and EILBRT of what reads (NVM 1.2
 * §5.3.1.4.1, Figures 157 to 165). `STS` is the namespace's Storage Tag Size in bits.
 * @throws RangeError for an STS that the format does not have, or a tag that does not fit its bits; TypeError for a tag
 *   that is no bigint.
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
 * The tags that a command's dwords hold (NVM 1.2 §5.3.1.4.1); bits that the format ignores are ignored. `STS` is the
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

/** Bits of the Reference Tag. */
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
