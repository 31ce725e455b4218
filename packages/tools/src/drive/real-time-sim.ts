import { loadHardwareHost, nativeHostModule } from '@gpunvme/cuda-native/host'
import type { DriveProfile } from '@gpunvme/nvme-sim'
import { startRealTimeSimulator, type RealTimeNamespace } from '@gpunvme/nvme-sim/realtime'
import type { NativeRegion } from '@gpunvme/nvme-spec/transport'
import { closeSync, openSync } from 'node:fs'
import type { SimulatedTransport } from './opened-transport.js'
import { REAL_TIME_MEMORY_BYTES } from './real-time-memory.js'

/**
 * Opens a simulated drive on a thread, with registers and all memory in native memory, as engines that write doorbells
 * directly need.
 * @throws NativeAddonError without an addon for this machine.
 */
export async function openRealTimeSim(
  profile: DriveProfile,
  seed: number,
  namespace: RealTimeNamespace,
): Promise<SimulatedTransport> {
  const memory = sharedMemory()
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

/**
 * Allocates memory that other threads can access, without the limit of locked memory. Not from a file on a disk: since
 * Linux 6.5, pages of such a file cannot be pinned for long, and CUDA does not register them.
 */
function sharedMemory(): NativeRegion {
  const fd = openSync('/dev/zero', 'r+')
  try {
    return loadHardwareHost().map(fd, 0, REAL_TIME_MEMORY_BYTES, 'read-write')
  } finally {
    closeSync(fd)
  }
}
