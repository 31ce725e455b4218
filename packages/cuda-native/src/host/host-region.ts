import { constants } from 'node:buffer'
import type { HardwareHost, NativeHost, NativeRegion } from '@gpunvme/nvme-spec/transport'
import type { HostAddon, RegionHandle } from './addon.js'

/** A mapping of the addon. The addon checks offsets and values. */
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

  /** Created at the first access: registers need none, and some runtimes do not allow one. */
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

/** Returns the `map` function of a host for one of the addon's two ways to map a file. */
export function mapWith(addon: HostAddon, map: HostAddon['map']): HardwareHost['map'] {
  return (fd, offsetBytes, lengthBytes, access) => {
    // A misspelt value must not be taken for 'read-write'.
    if (!['read', 'read-write'].includes(access)) {
      throw new TypeError(`access: expected 'read' or 'read-write', got ${JSON.stringify(access)}`)
    }
    return new HostRegion(addon, map(fd, offsetBytes, lengthBytes, access === 'read-write'))
  }
}

/** Returns the `view` function of a host. */
export function viewWith(addon: HostAddon): NativeHost['view'] {
  return (address, lengthBytes) => {
    checkViewable(lengthBytes)
    return addon.view(address, lengthBytes)
  }
}

/** Rejects lengths above the limit of an ArrayBuffer: the runtime would end the process. @throws RangeError */
function checkViewable(lengthBytes: number): void {
  // The addon rejects other types.
  if (!(lengthBytes > constants.MAX_LENGTH)) return
  throw new RangeError(
    `lengthBytes: expected at most ${constants.MAX_LENGTH}, the limit of an ArrayBuffer in this Node.js, got ${lengthBytes}`,
  )
}
