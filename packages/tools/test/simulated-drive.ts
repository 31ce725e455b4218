import { closeSync, openSync, readSync, truncateSync, writeFileSync } from 'node:fs'
import { Controller, type WritableNamespace } from '@gpunvme/host-driver'
import { RamMedia, simulate } from '@gpunvme/nvme-sim'
import type { FaultPlan } from '@gpunvme/nvme-spec/transport'

export const BLOCK_BYTES = 512

export interface SimulatedDrive {
  readonly media: RamMedia
  readonly controller: Controller<WritableNamespace>
  readonly namespace: WritableNamespace
}

/** Calls `use` with a writable simulated drive and its media, then closes the drive. */
export async function withSimulatedDrive<T>(
  { capacityBytes = 8 * 1024 * 1024, faults }: { readonly capacityBytes?: number; readonly faults?: FaultPlan },
  use: (drive: SimulatedDrive) => Promise<T>,
): Promise<T> {
  const media = new RamMedia(capacityBytes)
  const namespaces = [{ blockBytes: BLOCK_BYTES, media }] as const
  const { transport } = simulate({ profile: 'sn740', namespaces, ...(faults && { faults }) })
  const controller = await Controller.open(transport, { write: { serial: 'GPUNVME-SIM-SN740' } })
  try {
    return await use({ media, controller, namespace: controller.namespace(1) })
  } finally {
    await controller.close()
  }
}

/** Returns pseudo-random bytes. */
export function pattern(lengthBytes: number, seed = 1): Uint8Array {
  let state = seed
  return Uint8Array.from(
    { length: lengthBytes },
    () => (state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0) >>> 24,
  )
}

/** Reads bytes of the media. */
export function contents(media: RamMedia, offsetBytes: number, lengthBytes: number): Uint8Array {
  const bytes = new Uint8Array(lengthBytes)
  media.read(offsetBytes, bytes)
  return bytes
}

/** Makes an image file of zeros. */
export function emptyImage(path: string, lengthBytes: number): void {
  writeFileSync(path, '')
  truncateSync(path, lengthBytes)
}

/** Reads part of an image file. */
export function imageBytes(path: string, offsetBytes: number, lengthBytes: number): Buffer {
  const bytes = Buffer.alloc(lengthBytes)
  const fd = openSync(path, 'r')
  readSync(fd, bytes, 0, lengthBytes, offsetBytes)
  closeSync(fd)
  return bytes
}
