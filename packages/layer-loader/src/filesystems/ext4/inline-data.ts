import { struct, u16, u32, u8 } from '@gpunvme/nvme-spec/layout'
import type { Volume } from '../volume.js'
import type { Inode } from './inode.js'

/** Linux 6.1 Documentation/filesystems/ext4/attributes.rst and inlinedata.rst. */
const XATTR_ENTRY = struct(
  'XATTR_ENTRY',
  { bytes: 16, doc: 'An extended attribute', spec: 'Linux 6.1 Documentation/filesystems/ext4/attributes.rst' },
  {
    NAME_LEN: u8(0, 'Length of name'),
    NAME_INDEX: u8(1, 'Attribute name index; 7 is system.'),
    VALUE_OFFS: u16(2, 'Offset of the value from the first entry'),
    VALUE_INUM: u32(4, 'Inode with the value; 0 for this one'),
    VALUE_SIZE: u32(8, 'Length of attribute value'),
  },
)
const MAGIC = 0xea020000
const SYSTEM = 7

/**
 * Returns the inline data of an inode: in place of its block map and, if that is too short, also in its attribute
 * system.data. A directory entry never spans both.
 * @throws FileSystemError
 */
export function inlineParts(volume: Volume, inode: Inode): DataView[] {
  const { block, sizeBytes, number } = inode
  const inBlock = Math.min(sizeBytes, block.byteLength)
  const first = new DataView(block.buffer, block.byteOffset, inBlock)
  if (inBlock === sizeBytes) return [first]
  const value = systemData(volume, inode)
  const missing = sizeBytes - inBlock
  volume.require(
    value?.byteLength === missing,
    `system.data of inode ${number}`,
    `${missing} bytes`,
    value?.byteLength ?? 'none',
  )
  return value === undefined ? [first] : [first, value]
}

function systemData(volume: Volume, { data, attributesOffsetBytes, number }: Inode): DataView | undefined {
  const of = `of inode ${number}`
  const entries = attributesOffsetBytes + 4
  if (entries > data.byteLength || data.getUint32(attributesOffsetBytes, true) !== MAGIC) return undefined
  for (let at = entries; at + XATTR_ENTRY.bytes <= data.byteLength && data.getUint32(at, true) !== 0;) {
    const entry = XATTR_ENTRY.view(data, at)
    const nameEnd = at + XATTR_ENTRY.bytes + entry.NAME_LEN
    volume.require(nameEnd <= data.byteLength, `e_name_len ${of}`, 'a name inside it', entry.NAME_LEN)
    const name = Buffer.from(data.buffer, at + XATTR_ENTRY.bytes, entry.NAME_LEN).toString('latin1')
    at += (XATTR_ENTRY.bytes + entry.NAME_LEN + 3) & ~3
    if (entry.NAME_INDEX !== SYSTEM || name !== 'data') continue
    const start = entries + entry.VALUE_OFFS
    const isInside = entry.VALUE_INUM === 0 && entry.VALUE_SIZE <= data.byteLength - start
    volume.require(isInside, `e_value_offs ${of}`, 'a value inside it', entry.VALUE_OFFS)
    return new DataView(data.buffer, start, entry.VALUE_SIZE)
  }
  return undefined
}
