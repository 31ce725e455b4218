import { loadHardwareHost, nativeHostModule } from '@gpunvme/cuda-native/host'
import type { DriveProfile } from '@gpunvme/nvme-sim'
import { startRealTimeSimulator, type RealTimeNamespace } from '@gpunvme/nvme-sim/realtime'
import type { NativeRegion } from '@gpunvme/nvme-spec/transport'
import { closeSync, openSync } from 'node:fs'
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
 * Memory that other threads see too, without the limit that locked memory has. Not of a file on a disk: pages of such a
 * file are what Linux lends to no device for long, from 6.5 on, and then CUDA registers none of them.
 */
function sharedMemory(): NativeRegion {
  const fd = openSync('/dev/zero', 'r+')
  try {
    return loadHardwareHost().map(fd, 0, MEMORY_BYTES, 'read-write')
  } finally {
    closeSync(fd)
  }
}
