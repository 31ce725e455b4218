import { constants } from 'node:buffer'
import type { HardwareHost, NativeHost, NativeRegion } from '@gpunvme/nvme-spec/transport'
import type { HostAddon, RegionHandle } from './addon.js'

/** A mapping of the addon's. Offsets and values are checked there, beside the access that they guard. */
export class HostRegion implements NativeRegion {
  readonly address: bigint
  readonly lengthBytes: number
  readonly #addon: HostAddon
  readonly #handle: RegionHandle
  #buffer: ArrayBuffer | undefined
  #isMapped = true

  constructor(addon: HostAddon, handle: RegionHandle) {
    this.#addon = addon
    this.#handle = handle
    this.address = addon.address(handle)
    this.lengthBytes = addon.length(handle)
  }

  /** Made when it is first asked for: registers need none, and some runtimes allow none. */
  get buffer(): ArrayBuffer {
    return (this.#buffer ??= this.#isMapped ? this.#view() : new ArrayBuffer(0))
  }

  #view(): ArrayBuffer {
    checkViewable(this.lengthBytes)
    return this.#addon.buffer(this.#handle)
  }

  load32(offsetBytes: number): number {
    return this.#addon.load32(this.#handle, offsetBytes)
  }

  store32(offsetBytes: number, value: number): void {
    this.#addon.store32(this.#handle, offsetBytes, value)
  }

  load64(offsetBytes: number): bigint {
    return this.#addon.load64(this.#handle, offsetBytes)
  }

  store64(offsetBytes: number, value: bigint): void {
    this.#addon.store64(this.#handle, offsetBytes, value)
  }

  unmap(): void {
    this.#isMapped = false
    this.#addon.unmap(this.#handle)
  }
}

/** One of the addon's ways to map a file, as a host offers it. */
export function mapWith(addon: HostAddon, map: HostAddon['map']): HardwareHost['map'] {
  return (fd, offsetBytes, lengthBytes, access) => {
    // A slip must not be taken for the more dangerous of the two.
    if (!['read', 'read-write'].includes(access)) {
      throw new TypeError(`access: expected 'read' or 'read-write', got ${JSON.stringify(access)}`)
    }
    return new HostRegion(addon, map(fd, offsetBytes, lengthBytes, access === 'read-write'))
  }
}

/** The addon's view of memory, as a host offers it. */
export function viewWith(addon: HostAddon): NativeHost['view'] {
  return (address, lengthBytes) => {
    checkViewable(lengthBytes)
    return addon.view(address, lengthBytes)
  }
}

/** Where there would be more bytes than an ArrayBuffer can have, the runtime ends the process instead of refusing it. */
function checkViewable(lengthBytes: number): void {
  // Whatever is no number is the addon's to refuse.
  if (!(lengthBytes > constants.MAX_LENGTH)) return
  throw new RangeError(
    `lengthBytes: expected at most ${constants.MAX_LENGTH}, as an ArrayBuffer of this Node.js can have, got ${lengthBytes}`,
  )
}
