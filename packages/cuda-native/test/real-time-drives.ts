import { ftruncateSync } from 'node:fs'
import type { OpenedTransport, OpenTransport, TransportRequest } from '@gpunvme/host-driver/conformance'
import { deriveProfile, type DriveProfile } from '@gpunvme/nvme-sim'
import { startRealTimeSimulator, type RealTimeNamespace, type RealTimeSimulator } from '@gpunvme/nvme-sim/realtime'
import { zeroBased } from '@gpunvme/nvme-spec'
import { PciHeader } from '@gpunvme/nvme-spec/pci'
import type { FaultPlan, NativeRegion } from '@gpunvme/nvme-spec/transport'
import { nativeHostModule } from '@gpunvme/cuda-native/host'
import { native } from './native.js'
import { scratchFile } from './scratch-file.js'

export const SERIAL = 'CONFORMANCE1'
const MIB = 1024 * 1024
const LEAST_BYTES = 16 * MIB
/** Of which a case takes as much as it needs: the rest is of no page. */
const MEMORY_BYTES = 128 * MIB

/** The rings of a native engine wake nobody. Several drives are open at once, and most of them have nothing to do. */
const IDLE = { longestSleepNs: 1_000_000 }
/** Drives kept that nobody has opened. */
const MOST_FREE = 3

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

/** Memory that other threads see too, without a limit such as locked memory has. */
export function sharedMemory(lengthBytes: number): NativeRegion {
  using file = scratchFile(new Uint8Array())
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

/** One that is used again, by whoever needs the same. */
interface Pooled extends RealTimeDrive {
  readonly shape: string
  inUse: boolean
}

/**
 * Real-time simulators of whatever shape driver cases need. A thread serves one case after another: a reset of the
 * function makes its controller as after power on. One with faults is a case's own.
 */
export class RealTimeDrives {
  private readonly pool: Pooled[] = []

  readonly open: OpenTransport = async (request) => {
    const { faults, ...shape } = request
    if (faults !== undefined)
      return this.opened(await startDrive({ ...optionsOf(shape), faults }), (drive) => drive.close())
    const drive = await this.free(shape)
    drive.inUse = true
    const { transport } = drive.simulator
    await transport.reset!('function')
    // A case may have taken its bus mastering away, which is the host's to give back.
    transport.config!.write(PciHeader.CMD.offset, 2, (1 << PciHeader.CMD.MSE.lsb) | (1 << PciHeader.CMD.BME.lsb))
    return this.opened(drive, () => {
      drive.inUse = false
      return this.closeOldest()
    })
  }

  async close(): Promise<void> {
    await Promise.all(this.pool.splice(0).map((drive) => drive.close()))
  }

  private async closeOldest(): Promise<void> {
    const free = this.pool.filter(({ inUse }) => !inUse)
    if (free.length <= MOST_FREE) return
    const [oldest] = free
    this.pool.splice(this.pool.indexOf(oldest!), 1)
    await oldest!.close()
  }

  private async free(request: TransportRequest): Promise<Pooled> {
    const shape = JSON.stringify(request)
    const found = this.pool.find((drive) => drive.shape === shape && !drive.inUse)
    if (found !== undefined) {
      // The one that was used last stays longest.
      this.pool.push(...this.pool.splice(this.pool.indexOf(found), 1))
      return found
    }
    const drive = { ...(await startDrive(optionsOf(request))), shape, inUse: false }
    this.pool.push(drive)
    return drive
  }

  private async opened<Drive extends RealTimeDrive>(
    drive: Drive,
    letGo: (drive: Drive) => Promise<void>,
  ): Promise<OpenedTransport> {
    const { transport, diagnostics } = drive.simulator
    const before = (await diagnostics()).length
    return {
      transport: { ...transport, close: () => letGo(drive) },
      serial: SERIAL,
      mistakes: async () => (await diagnostics()).slice(before),
    }
  }
}

/** What a simulator is started with to be what a case asks for. */
export function optionsOf(request: TransportRequest): DriveOptions {
  const { namespaces = [{}], dstrd, maxQueueEntries, mdts, ioQueuePairs } = request
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
    namespaces: namespaces.map(({ nsid, blockBytes, metadataBytes, leastBytes = LEAST_BYTES }, index) => ({
      nsid: nsid ?? index + 1,
      ...(blockBytes !== undefined && { blockBytes: blockBytes as 512 }),
      ...(metadataBytes !== undefined && { metadataBytes: metadataBytes as 8 }),
      capacityBytes: leastBytes,
    })),
  }
}
