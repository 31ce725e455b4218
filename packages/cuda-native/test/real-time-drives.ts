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
const LEAST_BYTES = 16 * MIB
/** Of which a case takes as much as it needs: the rest is of no page. */
const MEMORY_BYTES = 128 * MIB

/** The rings of a native engine wake nobody. Several drives are open at once, and most of them have nothing to do. */
const IDLE = { longestSleepNs: 1_000_000 }
/** Number of unused drives that a pool keeps. */
const MAX_FREE = 3

/** What a real-time simulator is started with, beside its memory. */
export interface DriveOptions {
  readonly profile?: DriveProfile | 'ideal' | 'sn740'
  readonly namespaces?: readonly RealTimeNamespace[]
  readonly faults?: FaultPlan
}

/** A drive on a thread of its own, in native memory. */
export interface RealTimeDrive {
  readonly simulator: RealTimeSimulator
  /** Its memory goes with it. */
  readonly close: () => Promise<void>
}

/** Memory that other threads see too, that NVIDIA's driver can pin, and that RLIMIT_MEMLOCK does not limit. */
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

  /** Takes a drive of this shape, with the function that gives it back. A drive with faults serves one case only. */
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
    // The drive that was used last is closed last.
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

/** What a simulator is started with to be what a case asks for. */
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
    namespaces: namespaces.map(({ nsid, blockBytes, metadataBytes, leastBytes = LEAST_BYTES }, index) => ({
      nsid: nsid ?? index + 1,
      ...(blockBytes !== undefined && { blockBytes: blockBytes as 512 }),
      ...(metadataBytes !== undefined && { metadataBytes: metadataBytes as 8 }),
      capacityBytes: leastBytes,
    })),
  }
}
