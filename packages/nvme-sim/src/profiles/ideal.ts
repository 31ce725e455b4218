import { zeroBased } from '@gpunvme/nvme-spec'
import type { DriveProfile } from './profile.js'

const none = [0, 0, 0, 0, 0] as const

export const ideal: DriveProfile = {
  name: 'ideal',
  source: 'no costs; the limits are those of an ordinary drive',
  CAP: { MQES: zeroBased(1024), CQR: 1, TO: 20, AMS_WRRUPC: 1, CSS_NCSS: 1, NSSRS: 1, MPSMAX: 4, CRWMS: 1 },
  VS: 0x0002_0100,
  identify: {
    // The vendor ID of emulated devices; firmware treats a function with 0 as an empty slot (SeaBIOS 1.17).
    VID: 0x1234,
    SSVID: 0x1234,
    SN: 'GPUNVME-SIM-1',
    MN: 'gpunvme simulated controller',
    FR: '1',
    MDTS: 8, // 2 ^ 8 pages of 4 KiB = 1 MiB
  },
  ioQueuePairs: 64,
  commandSlots: 1024,
  enableNs: 0,
  resetNs: 0,
  shutdownNs: 0,
  commandNs: 0,
  adminNs: 0,
  readNs: none,
  writeNs: none,
  flushNs: none,
  mediaUnits: 1,
  readBytesPerSecond: Infinity,
  writeBytesPerSecond: Infinity,
}
