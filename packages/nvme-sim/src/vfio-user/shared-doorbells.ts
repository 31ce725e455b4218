import { closeSync, existsSync, ftruncateSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DOORBELL_BASE } from '@gpunvme/nvme-spec'
import type { NativeRegion, VfioUserHost } from '@gpunvme/nvme-spec/transport'
import type { Controller } from '../controller/controller.js'
import type { Device } from '../controller/device.js'
import { DoorbellPage } from '../realtime/doorbell-page.js'
import type { WallClock } from '../realtime/wall-clock.js'

/** Directory of a memory file system, if it exists. */
const MEMORY_FOLDER = '/dev/shm'

/**
 * Doorbells as memory that a client maps, in a new file for each client, since a disconnected client may keep its
 * mapping. Offsets in the file are those in BAR0.
 */
export class SharedDoorbells {
  /** Sent to the client. */
  readonly descriptor: number
  readonly page: DoorbellPage
  readonly offsetBytes = DOORBELL_BASE
  readonly lengthBytes: number
  private readonly region: NativeRegion

  /** @throws system errors. */
  constructor(host: Pick<VfioUserHost, 'mapForeign'>, device: Device, controller: Controller, clock: WallClock) {
    const endByte = device.pci.bar.tableOffset
    this.lengthBytes = endByte - DOORBELL_BASE
    this.descriptor = openUnnamed()
    try {
      ftruncateSync(this.descriptor, endByte)
      this.region = host.mapForeign(this.descriptor, DOORBELL_BASE, this.lengthBytes, 'read-write')
    } catch (error) {
      closeSync(this.descriptor)
      throw error
    }
    const words = new Int32Array(this.region.buffer)
    this.page = new DoorbellPage(words, controller, clock, device.doorbellStrideBytes)
    device.queues.onCreate = (queue) => this.page.open(queue)
  }

  /** The client has rung by a message. */
  rung(offset: number, value: number): void {
    this.page.rung((offset - DOORBELL_BASE) / 4, value | 0)
  }

  close(): void {
    this.region.unmap()
    closeSync(this.descriptor)
  }
}

/** Opens an empty, unnamed file. */
function openUnnamed(): number {
  const folder = mkdtempSync(join(existsSync(MEMORY_FOLDER) ? MEMORY_FOLDER : tmpdir(), 'gpunvme-'))
  try {
    return openSync(join(folder, 'doorbells'), 'wx+', 0o600)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
