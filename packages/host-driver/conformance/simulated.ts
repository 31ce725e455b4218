import { deriveProfile, simulate, type DriveProfile, type SimulationOptions } from '@gpunvme/nvme-sim'
import { zeroBased } from '@gpunvme/nvme-spec'
import type { Transport } from '@gpunvme/nvme-spec/transport'
import type { OpenTransport } from './request.js'

const SERIAL = 'CONFORMANCE1'
const MIN_BYTES = 16 * 1024 * 1024

/**
 * Returns an opener of simulated controllers with the properties that each case requests. Their time is virtual.
 * @param wrap changes each transport, for example by `traced`. Default: no change.
 * @param base profile of the drive. Default: `ideal`.
 */
export function simulatedDevices(
  wrap: (transport: Transport) => Transport = (transport) => transport,
  base: 'ideal' | 'sn740' = 'ideal',
): OpenTransport {
  return ({ namespaces = [{}], dstrd, maxQueueEntries, mdts, ioQueuePairs, faults }) => {
    const CAP: DriveProfile['CAP'] = {
      ...(dstrd !== undefined && { DSTRD: dstrd }),
      ...(maxQueueEntries !== undefined && { MQES: zeroBased(maxQueueEntries) }),
    }
    const profile = deriveProfile(base, {
      CAP,
      identify: { SN: SERIAL, ...(mdts !== undefined && { MDTS: mdts }) },
      ...(ioQueuePairs !== undefined && { ioQueuePairs }),
    })
    const options: SimulationOptions = {
      profile,
      namespaces: namespaces.map(({ nsid, blockBytes, metadataBytes, minBytes = MIN_BYTES }, index) => ({
        nsid: nsid ?? index + 1,
        ...(blockBytes !== undefined && { blockBytes: blockBytes as 512 }),
        ...(metadataBytes !== undefined && { metadataBytes: metadataBytes as 8 }),
        capacityBytes: minBytes,
      })),
      ...(faults && { faults }),
    }
    const simulation = simulate(options)
    return Promise.resolve({
      transport: wrap(simulation.transport),
      serial: SERIAL,
      mistakes: () => simulation.diagnostics.map(({ text }) => text),
    })
  }
}
