import { CNS } from '@gpunvme/nvme-spec'
import { DriverError, listNamespaces, type AdminReader } from '@gpunvme/host-driver'
import type { AnyRegister } from '@gpunvme/nvme-spec/layout'
import type { OpenedTransport } from '../drive/opened-transport.js'

/** Reads a register. Nothing here writes one. */
export type ReadRegister = (register: AnyRegister) => number | bigint

/** Read access to a drive, through this package's driver or Linux's. */
export interface AdminView {
  readonly by: 'driver' | 'linux'
  /** Name of the drive in output: '0000:0b:00.0', '0000:0b:00.0 (nvme0)', 'sim'. */
  readonly name: string
  /** How the drive was accessed, as text. */
  readonly source: string
  readonly reader: Pick<AdminReader, 'identity' | 'identify' | 'logPage' | 'getFeature' | 'featureCapabilities'>
  /** @throws RegistersRefusedError if Linux uses the drive and does not expose them. */
  readonly readRegister: ReadRegister
  /** Advances modelled time; absent if the drive uses real time. */
  readonly passModelledTime?: (ms: number) => Promise<void>
}

/** Parts of a transport that are needed to advance modelled time. */
export function modelledTime({ time, transport: { clock } }: Pick<OpenedTransport, 'time' | 'transport'>) {
  return time === 'modelled' ? { passModelledTime: (ms: number) => clock.idle(clock.now() + ms * 1e6) } : {}
}

/** The drive and its driver, as in all JSON results. */
export function driveFacts({ name, by }: Pick<AdminView, 'name' | 'by'>): {
  readonly name: string
  readonly by: AdminView['by']
} {
  return { name, by }
}

/** Returns undecoded bytes, to decode later or several times. */
export const AS_BYTES = { decode: (data: DataView) => data }

/** Returns the NSIDs of the active namespaces of all command sets. @throws DriverError (NAMESPACE_LIST) */
export function activeNamespaces({ reader }: AdminView): Promise<number[]> {
  return listNamespaces(reader.identity.raw, (nsid) => reader.identify(CNS.ACTIVE_NAMESPACE_LIST, AS_BYTES, { nsid }))
}

/** @throws DriverError (NAMESPACE_NOT_FOUND) that lists the active ones. */
export async function requireActive(view: AdminView, nsid: number): Promise<void> {
  const found = await activeNamespaces(view)
  if (found.includes(nsid)) return
  throw new DriverError('ERR_GPUNVME_NAMESPACE_NOT_FOUND', 'not-found', `Namespace ${nsid} is not active`, {
    facts: [`active: ${found.join(', ') || 'none'}`],
  })
}
