import { loadHardwareHost, nativeHostModule } from '@gpunvme/cuda-native/host'
import type { DriveProfile } from '@gpunvme/nvme-sim'
import { startRealTimeSimulator, type RealTimeNamespace } from '@gpunvme/nvme-sim/realtime'
import type { NativeRegion } from '@gpunvme/nvme-spec/transport'
import { closeSync, ftruncateSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { requireSpace } from '../model/enough-space.js'
import type { HarmlessTransport } from './opened-transport.js'

/** For queues and for what is read. Only what is used takes room. */
const MEMORY_BYTES = 512 * 1024 * 1024

/**
 * A simulated drive on a thread of its own, its registers and all memory in native memory: what engines that ring
 * doorbells by stores of their own need.
 * @throws NativeAddonError where there is no addon for this machine, which has the memory.
 */
export async function openRealTimeSim(
  profile: DriveProfile,
  seed: number,
  namespace: RealTimeNamespace,
): Promise<HarmlessTransport> {
  const memory = await sharedMemory()
  const { address, lengthBytes } = memory
  try {
    const simulator = await startRealTimeSimulator({
      ...{ module: nativeHostModule, address, lengthBytes, profile, seed },
      namespaces: [namespace],
    })
    return {
      name: 'sim',
      transport: simulator.transport,
      time: 'wall',
      link: profile.link,
      serial: profile.identify.SN ?? '',
      hostError: () => undefined,
      async close() {
        await simulator.close()
        memory.unmap()
      },
    }
  } catch (error) {
    memory.unmap()
    throw error
  }
}

/** Memory that other threads see too, without the limit that locked memory has: of a file that nobody else can find. */
async function sharedMemory(): Promise<NativeRegion> {
  const host = loadHardwareHost()
  // A write to memory of a file whose disk is full ends the process.
  await requireSpace('The memory of a real-time simulator', tmpdir(), MEMORY_BYTES, 'TMPDIR on another disk')
  const folder = mkdtempSync(join(tmpdir(), 'gpunvme-memory-'))
  try {
    const fd = openSync(join(folder, 'memory'), 'w+')
    try {
      ftruncateSync(fd, MEMORY_BYTES)
      return host.map(fd, 0, MEMORY_BYTES, 'read-write')
    } finally {
      closeSync(fd)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
