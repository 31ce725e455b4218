import { ftruncateSync } from 'node:fs'
import type { OpenTransport, TransportRequest } from '@gpunvme/host-driver/conformance'
import { deriveProfile, type DriveProfile } from '@gpunvme/nvme-sim'
import { startRealTimeSimulator, type RealTimeNamespace, type RealTimeSimulator } from '@gpunvme/nvme-sim/realtime'
import { zeroBased } from '@gpunvme/nvme-spec'
import { PciHeader } from '@gpunvme/nvme-spec/pci'
import type { FaultPlan, NativeRegion } from '@gpunvme/nvme-spec/transport'
import { nativeHostModule } from '@gpunvme/cuda-native/host'
import { native } from './native.js'
import { memoryFile } from './scratch-file.js'

export const SERIAL = 'CONFORMANCE1'
const MIB = 1024 * 1024
const MIN_BYTES = 16 * MIB
/** Size of a drive's memory. Pages that a case does not use are not allocated. */
const MEMORY_BYTES = 128 * MIB

/** Limits the sleep of an idle simulator, which doorbells of a native engine do not wake. Most open drives are idle. */
const IDLE = { maxSleepNs: 1_000_000 }
/** Number of unused drives that a pool keeps. */
const MAX_FREE = 3

/** Options of a real-time simulator, except its memory. */
export interface DriveOptions {
  readonly profile?: DriveProfile | 'ideal' | 'sn740'
  readonly namespaces?: readonly RealTimeNamespace[]
  readonly faults?: FaultPlan
}

/** A simulated drive that runs on its own thread, in native memory. */
export interface RealTimeDrive {
  readonly simulator: RealTimeSimulator
  /** Closes the drive, and unmaps its memory. */
  readonly close: () => Promise<void>
}

/** Maps memory that threads share, that NVIDIA's driver can pin, and that RLIMIT_MEMLOCK does not limit. */
export function sharedMemory(lengthBytes: number): NativeRegion {
  using file = memoryFile(new Uint8Array())
  ftruncateSync(file.fd, lengthBytes)
  return native.map(file.fd, 0, lengthBytes, 'read-write')
}

export async function startDrive(options: DriveOptions = {}, memoryBytes = MEMORY_BYTES): Promise<RealTimeDrive> {
  const memory = sharedMemory(memoryBytes)
  const { address, lengthBytes } = memory
  try {
    const source = { module: nativeHostModule, address, lengthBytes }
    const simulator = await startRealTimeSimulator({ ...source, idle: IDLE, ...options })
    const close = async () => {
      await simulator.close()
      memory.unmap()
    }
    return { simulator, close }
  } catch (error) {
    memory.unmap()
    throw error
  }
}

/** Drives that driver cases use one after another, by the shape a case requests. */
export class DrivePool<Drive extends { readonly close: () => Promise<void> }> {
  private readonly drives: { readonly shape: string; readonly drive: Drive; inUse: boolean }[] = []
  private readonly start: (shape: TransportRequest) => Promise<Drive>

  constructor(start: (shape: TransportRequest) => Promise<Drive>) {
    this.start = start
  }

  /** Returns a drive of this shape, and the function that releases it. A drive with faults serves only one case. */
  async take(request: TransportRequest): Promise<{ drive: Drive; release: () => Promise<void> }> {
    if (request.faults !== undefined) {
      const drive = await this.start(request)
      return { drive, release: () => drive.close() }
    }
    const shape = JSON.stringify(request)
    const index = this.drives.findIndex((each) => each.shape === shape && !each.inUse)
    const found = index < 0 ? [] : this.drives.splice(index, 1)
    const [pooled = { shape, drive: await this.start(request), inUse: true }] = found
    pooled.inUse = true
    // The most recently used drive is closed last.
    this.drives.push(pooled)
    const release = () => {
      pooled.inUse = false
      return this.closeOldest()
    }
    return { drive: pooled.drive, release }
  }

  async close(): Promise<void> {
    await Promise.all(this.drives.splice(0).map(({ drive }) => drive.close()))
  }

  private async closeOldest(): Promise<void> {
    const free = this.drives.filter(({ inUse }) => !inUse)
    if (free.length <= MAX_FREE) return
    const [oldest] = free
    this.drives.splice(this.drives.indexOf(oldest!), 1)
    await oldest!.drive.close()
  }
}

/** Real-time simulators for driver cases. A reset of the function restores a pooled controller to its power-on state. */
export class RealTimeDrives {
  private readonly pool = new DrivePool((request) => startDrive(optionsOf(request)))

  readonly open: OpenTransport = async (request) => {
    const { drive, release } = await this.pool.take(request)
    const { transport, diagnostics } = drive.simulator
    // A fault may match the reset, and a drive with faults is new.
    if (request.faults === undefined) {
      await transport.reset!('function')
      // A case may have cleared bus mastering, which the host sets again.
      transport.config!.write(PciHeader.CMD.offset, 2, (1 << PciHeader.CMD.MSE.lsb) | (1 << PciHeader.CMD.BME.lsb))
    }
    const before = (await diagnostics()).length
    return {
      transport: { ...transport, close: release },
      serial: SERIAL,
      mistakes: async () => (await diagnostics()).slice(before).map(({ text }) => text),
    }
  }

  readonly close = () => this.pool.close()
}

/** Returns the options of a simulator that has the shape of the request. */
export function optionsOf(request: TransportRequest): DriveOptions {
  const { namespaces = [{}], dstrd, maxQueueEntries, mdts, ioQueuePairs, faults } = request
  const CAP: DriveProfile['CAP'] = {
    ...(dstrd !== undefined && { DSTRD: dstrd }),
    ...(maxQueueEntries !== undefined && { MQES: zeroBased(maxQueueEntries) }),
  }
  return {
    profile: deriveProfile('ideal', {
      CAP,
      identify: { SN: SERIAL, ...(mdts !== undefined && { MDTS: mdts }) },
      ...(ioQueuePairs !== undefined && { ioQueuePairs }),
    }),
    ...(faults !== undefined && { faults }),
    namespaces: namespaces.map(({ nsid, blockBytes, metadataBytes, minBytes = MIN_BYTES }, index) => ({
      nsid: nsid ?? index + 1,
      ...(blockBytes !== undefined && { blockBytes: blockBytes as 512 }),
      ...(metadataBytes !== undefined && { metadataBytes: metadataBytes as 8 }),
      capacityBytes: minBytes,
    })),
  }
}
