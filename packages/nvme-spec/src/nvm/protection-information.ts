// Protection information is big endian, unlike all other structures. Its fields are declared as bytes; functions
// convert them to and from integers.
import { bytes, refuse, struct } from '../layout/index.js'

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
    refuse(where, 'a big endian field', `an integer of ${lengthBytes} bytes`, value, 'bigint')
  return Uint8Array.from({ length: lengthBytes }, (_, i) =>
    Number((value >> BigInt((lengthBytes - 1 - i) * 8)) & 0xffn),
  )
}
