import { checkInteger } from '../layout/facts.js'
import { bytes, rejectValue, struct } from '../layout/index.js'

// Protection information is big endian, unlike all other structures. Its fields are declared as bytes; functions
// convert them to and from integers.

/** 16b Guard Protection Information, of 8 bytes (NVM 1.2 §5.3.1.1, Figures 147 and 148). */
export const ProtectionInformation16 = struct(
  '16b Guard Protection Information',
  { bytes: 8, doc: 'Protection information, CRC-16 guard', spec: 'NVM 1.2 §5.3.1.1' },
  {
    GUARD: bytes(0, 2, 'Guard, big endian'),
    AT: bytes(2, 2, 'Application Tag, big endian'),
    SRS: bytes(4, 4, 'Storage and Reference Space, big endian'),
  },
)

/** 32b Guard Protection Information, of 16 bytes (NVM 1.2 §5.3.1.2, Figure 149). */
export const ProtectionInformation32 = struct(
  '32b Guard Protection Information',
  { bytes: 16, doc: 'Protection information, CRC-32C guard', spec: 'NVM 1.2 §5.3.1.2' },
  {
    GUARD: bytes(0, 4, 'Guard, big endian'),
    AT: bytes(4, 2, 'Application Tag, big endian'),
    SRS: bytes(6, 10, 'Storage and Reference Space, big endian'),
  },
)

/** 64b Guard Protection Information, of 16 bytes (NVM 1.2 §5.3.1.3, Figure 151). */
export const ProtectionInformation64 = struct(
  '64b Guard Protection Information',
  { bytes: 16, doc: 'Protection information, 64b CRC guard', spec: 'NVM 1.2 §5.3.1.3' },
  {
    GUARD: bytes(0, 8, 'Guard, big endian'),
    AT: bytes(8, 2, 'Application Tag, big endian'),
    SRS: bytes(10, 6, 'Storage and Reference Space, big endian'),
  },
)

/** Returns the integer in a field of protection information, most significant byte first (NVM 1.2 §5.3.1). */
export function fromBigEndian(bytes: Uint8Array): bigint {
  return bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n)
}

/**
 * Returns an integer as `lengthBytes` bytes of a field of protection information (NVM 1.2 §5.3.1).
 * @throws TypeError if it is not a bigint, RangeError if it does not fit.
 */
export function toBigEndian(lengthBytes: number, value: bigint): Uint8Array {
  const where = { name: 'Protection information', spec: 'NVM 1.2 §5.3.1' } as const
  if (typeof value !== 'bigint' || BigInt.asUintN(lengthBytes * 8, value) !== value)
    rejectValue(where, 'a big endian field', `an integer of ${lengthBytes} bytes`, value, 'bigint')
  return Uint8Array.from({ length: lengthBytes }, (_, i) =>
    Number((value >> BigInt((lengthBytes - 1 - i) * 8)) & 0xffn),
  )
}

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
 * @throws RangeError for a format that does not exist, an STS that the format does not have, or a tag that does not fit
 *   its bits; TypeError for a format that is not a number, or a tag that is not a bigint.
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
 * @throws RangeError for a format that does not exist, an STS that the format does not have, or a dword that is not an
 *   integer of 32 bits; TypeError for a format or a dword that is not a number.
 */
export function unpackTags(guardBits: GuardBits, STS: number, { CDW2, CDW3, CDW14 }: TagDwords): LogicalBlockTags {
  const referenceBits = checkSizes(guardBits, STS)
  checkInteger('CDW2', CDW2, 0, 0xffff_ffff)
  checkInteger('CDW3', CDW3, 0, 0xffff_ffff)
  checkInteger('CDW14', CDW14, 0, 0xffff_ffff)
  const space = (BigInt(CDW2) << 64n) | (BigInt(CDW3) << 32n) | BigInt(CDW14)
  return {
    storageTag: BigInt.asUintN(STS, space >> BigInt(referenceBits)),
    referenceTag: BigInt.asUintN(referenceBits, space),
  }
}

/** Returns the width of the Reference Tag in bits. */
function checkSizes(guardBits: GuardBits, STS: number): number {
  if (![16, 32, 64].includes(guardBits)) rejectValue(where, 'Guard', '16, 32 or 64 bits', guardBits)
  const [min, max] = storageBits[guardBits]
  if (!(Number.isInteger(STS) && STS >= min && STS <= max))
    rejectValue(where, 'Storage Tag Size', `an integer from ${min} to ${max} with ${guardBits}b guards`, STS)
  return spaceBits[guardBits] - STS
}

function checkTag(doc: string, widthBits: number, tag: bigint): void {
  if (typeof tag !== 'bigint' || BigInt.asUintN(widthBits, tag) !== tag)
    rejectValue(where, doc, `an integer of ${widthBits} bits`, tag, 'bigint')
}
