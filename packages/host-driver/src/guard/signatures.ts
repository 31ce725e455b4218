import type { Namespace } from '../namespace.js'

/** Where a signature is: from the start of the namespace, or (negative) from its end. In bytes. */
interface Signature {
  readonly name: string
  readonly at: readonly number[]
  readonly magic: string | readonly number[]
}

/** Something known that lies on a namespace. */
export interface FoundSignature {
  readonly name: string
  readonly offsetBytes: number
}

const KIB = 1024
const every = (step: number, from: number, to: number) =>
  Array.from({ length: (to - from) / step }, (_, index) => from + index * step)

// Offsets and magics as the formats' own documents and tools (util-linux's libblkid among them) have them.
const signatures: readonly Signature[] = [
  { name: 'GPT', at: [512, 4096, -512, -4096], magic: 'EFI PART' },
  { name: 'MBR', at: [510], magic: [0x55, 0xaa] },
  { name: 'ext2/3/4', at: [0x438], magic: [0x53, 0xef] },
  { name: 'XFS', at: [0], magic: 'XFSB' },
  { name: 'btrfs', at: [64 * KIB + 0x40], magic: '_BHRfS_M' },
  { name: 'F2FS', at: [KIB], magic: [0x10, 0x20, 0xf5, 0xf2] },
  { name: 'EROFS', at: [KIB], magic: [0xe2, 0xe1, 0xf5, 0xe0] },
  { name: 'NTFS', at: [3], magic: 'NTFS    ' },
  { name: 'exFAT', at: [3], magic: 'EXFAT   ' },
  { name: 'FAT', at: [54], magic: 'FAT1' },
  { name: 'FAT', at: [82], magic: 'FAT32   ' },
  { name: 'APFS', at: [32], magic: 'NXSB' },
  { name: 'HFS+', at: [KIB], magic: 'H+' },
  { name: 'JFS', at: [32 * KIB], magic: 'JFS1' },
  { name: 'ISO 9660', at: [32 * KIB + 1], magic: 'CD001' },
  { name: 'squashfs', at: [0], magic: 'hsqs' },
  { name: 'swap', at: [4086], magic: 'SWAPSPACE2' },
  { name: 'LUKS', at: [0], magic: [0x4c, 0x55, 0x4b, 0x53, 0xba, 0xbe] },
  { name: 'LUKS', at: [16 * KIB, 32 * KIB, 64 * KIB], magic: [0x53, 0x4b, 0x55, 0x4c, 0xba, 0xbe] },
  { name: 'LVM', at: [0, 512, 1024, 1536], magic: 'LABELONE' },
  { name: 'md RAID', at: [0, 4096, -64 * KIB, -128 * KIB, -8 * KIB, -12 * KIB], magic: [0xfc, 0x4e, 0x2b, 0xa9] },
  { name: 'ZFS', at: every(KIB, 128 * KIB, 256 * KIB), magic: [0x0c, 0xb1, 0xba, 0x00] },
  { name: 'ZFS', at: every(KIB, -384 * KIB, -256 * KIB), magic: [0x0c, 0xb1, 0xba, 0x00] },
  { name: 'ZFS', at: every(KIB, -128 * KIB, 0), magic: [0x0c, 0xb1, 0xba, 0x00] },
  { name: 'bcache', at: [4096 + 24], magic: [0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca] },
  { name: 'Ceph BlueStore', at: [0], magic: 'bluestore block device' },
  { name: 'raw GGUF model', at: [0], magic: 'GGUF' },
]

/** How much of each end of a namespace the table speaks of: whoever takes a namespace over clears that much. */
export const SIGNATURE_REACH_BYTES = 512 * KIB

/** Every known signature on a namespace: file systems, partition tables, volume managers, RAID, encryption. */
export async function findSignatures(namespace: Namespace): Promise<FoundSignature[]> {
  const { capacityBytes } = namespace
  const reach = Math.min(SIGNATURE_REACH_BYTES, capacityBytes)
  const head = await namespace.readBytes(0, reach)
  const tail = await namespace.readBytes(capacityBytes - reach, reach)
  const found = signatures.flatMap(({ name, at, magic }) => {
    const wanted = typeof magic === 'string' ? Array.from(magic, (character) => character.charCodeAt(0)) : magic
    return at
      .filter((offset) => (offset >= 0 ? holds(head, offset, wanted) : holds(tail, reach + offset, wanted)))
      .map((offset) => ({ name, offsetBytes: offset >= 0 ? offset : capacityBytes + offset }))
  })
  return found.filter((one, index) => found.findIndex((other) => other.name === one.name) === index)
}

function holds(bytes: Uint8Array, offset: number, wanted: readonly number[]): boolean {
  return (
    offset >= 0 &&
    offset + wanted.length <= bytes.length &&
    wanted.every((byte, index) => bytes[offset + index] === byte)
  )
}
