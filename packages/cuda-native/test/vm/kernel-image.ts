import { spawnSync } from 'node:child_process'

/** Offsets of fields that locate the payload of a bzImage (Linux x86 boot protocol, "The Real-Mode Kernel Header"). */
const HEADER = { setupSectors: 0x1f1, magic: 0x202, payloadOffset: 0x248, payloadLength: 0x24c }

/** Magic numbers of compression formats that Debian's kernels use, and programs that decompress them. */
const COMPRESSIONS = [
  { magic: 'fd377a585a00', program: 'xz' },
  { magic: '28b52ffd', program: 'zstd' },
  { magic: '02214c18', program: 'lz4' },
]

/**
 * Extracts the ELF kernel from a bzImage. QEMU boots it by PVH without decompression in the guest: 4 s instead of 11 s
 * without KVM. Returns undefined if that fails; the bzImage can be booted too.
 */
export function unpackKernel(bzImage: Buffer): Buffer | undefined {
  if (bzImage.toString('latin1', HEADER.magic, HEADER.magic + 4) !== 'HdrS') return undefined
  const start = (bzImage[HEADER.setupSectors]! + 1) * 512 + bzImage.readUInt32LE(HEADER.payloadOffset)
  // Excludes the decompressed size that the kernel build appends, which the programs would reject.
  const payload = bzImage.subarray(start, start + bzImage.readUInt32LE(HEADER.payloadLength) - 4)
  const found = COMPRESSIONS.find(({ magic }) => payload.toString('hex', 0, magic.length / 2) === magic)
  if (found === undefined) return undefined
  const { status, stdout } = spawnSync(found.program, ['-dc'], { input: payload, maxBuffer: 2 ** 30 })
  return status === 0 && stdout.toString('latin1', 1, 4) === 'ELF' ? stdout : undefined
}
