import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import { PCI_CONFIG_BYTES, PciHeader } from '@gpunvme/nvme-spec/pci'
import type { ConfigSpace } from '@gpunvme/nvme-spec/transport'
import { DriverError } from '../error.js'

/** A configuration space that holds a file open until `close`, which may be called twice. */
export interface OpenConfigSpace extends ConfigSpace {
  /** Closes the file. */
  readonly close: () => void
}

/**
 * Configuration space as the bytes of an open file, from `base` on. A removed function reads all ones and takes no
 * writes, as on the bus. Positions are Numbers: `fs.writeSync` ignores a BigInt and writes at the current position, to
 * another register.
 */
export function fileConfigSpace(fd: number, base = 0): ConfigSpace {
  const bytes = Buffer.alloc(4)
  return {
    read(offset, widthBytes) {
      checkConfigAccess(offset, widthBytes)
      // Bytes beyond those that the kernel shows read all ones.
      bytes.fill(0xff)
      whileThere(() => readSync(fd, bytes, 0, widthBytes, base + offset))
      return bytes.readUIntLE(0, widthBytes)
    },
    write(offset, widthBytes, value) {
      checkConfigAccess(offset, widthBytes, value)
      bytes.writeUIntLE(value, 0, widthBytes)
      whileThere(() => writeSync(fd, bytes, 0, widthBytes, base + offset))
    },
  }
}

/**
 * Opens the configuration space of a function by its file in sysfs: /sys/bus/pci/devices/BDF/config.
 * @throws DriverError (CONFIG_SPACE_ACCESS) if the kernel shows only the first 64 bytes, or none.
 */
export function sysfsConfigSpace(path: string): OpenConfigSpace {
  const fd = open(path)
  try {
    const lengthBytes = readSync(fd, Buffer.alloc(PCI_CONFIG_BYTES), 0, PCI_CONFIG_BYTES, 0)
    if (lengthBytes < PCI_CONFIG_BYTES) throw inaccessible(path, `only ${lengthBytes} bytes can be read`)
  } catch (error) {
    closeSync(fd)
    throw error
  }
  let isOpen = true
  return {
    ...fileConfigSpace(fd),
    close() {
      if (isOpen) closeSync(fd)
      isOpen = false
    },
  }
}

/** Returns a copy of the first 256 bytes, for `capabilities` and `findCapability` of `@gpunvme/nvme-spec/pci`. */
export function snapshot(config: ConfigSpace): DataView {
  const copy = new DataView(new ArrayBuffer(PCI_CONFIG_BYTES))
  for (let offset = 0; offset < PCI_CONFIG_BYTES; offset += 4) copy.setUint32(offset, config.read(offset, 4), true)
  return copy
}

/** Returns whether the function is on the bus: an absent one reads FFFFh, which is no vendor's ID. */
export function isOnBus(config: ConfigSpace): boolean {
  return config.read(PciHeader.VID.offset, 2) !== 0xffff
}

function open(path: string): number {
  try {
    return openSync(path, 'r+')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EACCES' && code !== 'EPERM') throw error
    throw inaccessible(path, `it cannot be opened for writing (${code})`, error)
  }
}

/** Errors of the kernel for a function that has left the bus; none is the caller's mistake. */
const GONE = new Set(['EIO', 'ENODEV', 'ENXIO', 'ENOENT', 'EINVAL'])

function whileThere(access: () => void): void {
  try {
    access()
  } catch (error) {
    if (!GONE.has((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}

/**
 * Checks an access. @param value that is to be written.
 * @throws RangeError for an access outside of configuration space, and for a value of another width.
 */
export function checkConfigAccess(offset: number, widthBytes: number, value = 0): void {
  if (widthBytes !== 1 && widthBytes !== 2 && widthBytes !== 4)
    throw new RangeError(`widthBytes: expected 1, 2 or 4, got ${String(widthBytes)}`)
  if (!Number.isInteger(offset) || offset < 0 || offset % widthBytes !== 0 || offset + widthBytes > 4096)
    throw new RangeError(`offset: expected a multiple of ${widthBytes} below 4096, got ${offset}`)
  if (!Number.isInteger(value) || value < 0 || value >= 2 ** (widthBytes * 8))
    throw new RangeError(`value: expected an unsigned integer of ${widthBytes * 8} bits, got ${value}`)
}

function inaccessible(path: string, problem: string, cause?: unknown): DriverError {
  const headline = `Cannot access configuration space ${path}: ${problem}`
  const next = 'run as root: other users can read only the first 64 bytes, and cannot write'
  return new DriverError('ERR_GPUNVME_CONFIG_SPACE_ACCESS', 'privilege', headline, { next, cause })
}
