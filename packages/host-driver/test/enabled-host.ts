import { RawHost } from '@gpunvme/nvme-sim/conformance'
import type { Transport } from '@gpunvme/nvme-spec/transport'

/** Enables the controller of a transport with Admin queues of `entries`, and returns its raw host. */
export async function enabledHost(transport: Transport, entries = 4): Promise<RawHost> {
  const host = new RawHost(transport)
  const csts = await host.enable({ sqEntries: entries })
  if ((csts & 3) !== 1) throw new Error(`expected CSTS.RDY = 1 and CFS = 0, got CSTS ${csts.toString(16)}h`)
  return host
}
