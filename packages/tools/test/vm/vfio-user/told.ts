import { deriveProfile, type DriveProfile, type NamespaceOptions } from '@gpunvme/nvme-sim'

const MIB = 1024 * 1024

/** Options that both a server and a simulator in this process accept. */
interface Told {
  readonly profile: DriveProfile
  readonly seed: number
  readonly namespaces: readonly Omit<NamespaceOptions, 'media'>[]
}

function told(serial: string, namespaces: Told['namespaces']): Told {
  const identify = { VID: 0x1de5, SSVID: 0x1de6, SN: serial, MN: 'gpunvme told by a test', FR: '7.3.1' }
  const profile = deriveProfile('ideal', { identify: { ...identify, MDTS: 6, WCTEMP: 351, CCTEMP: 361 } })
  return { profile, seed: 7, namespaces }
}

/** Configuration of a simulated drive without defaults, so that values that Linux shows can only come from here. */
export const TOLD = told('VFIO-USER-0001', [
  {
    nsid: 1,
    capacityBytes: 256 * MIB,
    eui64: Uint8Array.of(0x02, 0x12, 0x23, 0x34, 0x45, 0x56, 0x67, 0x78),
    nguid: Uint8Array.from({ length: 16 }, (_, index) => 0xa0 + index),
  },
  { nsid: 3, capacityBytes: 64 * MIB, blockBytes: 4096 },
])

/** Returns a drive with its own serial number, since Linux rejects a second controller with the same one. */
export function toldSerial(serial: string): Told {
  return told(serial, [{ nsid: 1, capacityBytes: 256 * MIB }])
}
