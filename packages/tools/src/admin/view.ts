import { CNS } from '@gpunvme/nvme-spec'
import { listNamespaces, NamespaceNotFoundError, type AdminReader } from '@gpunvme/host-driver'
import type { AnyRegister } from '@gpunvme/nvme-spec/layout'
import type { OpenedTransport } from '../drive/opened-transport.js'

/** Reads a register; nothing here writes one. */
export type ReadRegister = (register: AnyRegister) => number | bigint

/** What a drive can be asked, and by whom: our own driver, or Linux's, which passes such questions on. */
export interface AdminView {
  readonly by: 'driver' | 'linux'
  /** What output calls the drive: '0000:0b:00.0', '0000:0b:00.0 (nvme0)', 'sim'. */
  readonly name: string
  /** For people: who answers, and what was done to the drive for it. */
  readonly source: string
  readonly reader: Pick<AdminReader, 'identity' | 'identify' | 'logPage' | 'getFeature' | 'featureCapabilities'>
  /** @throws RegistersRefusedError where Linux has the drive and keeps them to itself. */
  readonly readRegister: ReadRegister
  /** Lets modelled time go on; absent where the wall's is the only one. */
  readonly passModelledTime?: (ms: number) => Promise<void>
}

/** What of a transport a view needs to let modelled time go on. */
export function modelledTime({ time, transport: { clock } }: Pick<OpenedTransport, 'time' | 'transport'>) {
  return time === 'modelled' ? { passModelledTime: (ms: number) => clock.idle(clock.now() + ms * 1e6) } : {}
}

/** Which drive answered, and by whom, as every result for programs says it. */
export function driveFacts({ name, by }: Pick<AdminView, 'name' | 'by'>): {
  readonly name: string
  readonly by: AdminView['by']
} {
  return { name, by }
}

/** The bytes as they came: for what decodes them later, or several times. */
export const AS_BYTES = { decode: (data: DataView) => data }

/** Returns the NSIDs of the active namespaces of all command sets. @throws NamespaceListError */
export function activeNamespaces({ reader }: AdminView): Promise<number[]> {
  return listNamespaces(reader.identity.raw, (nsid) => reader.identify(CNS.ACTIVE_NAMESPACE_LIST, AS_BYTES, { nsid }))
}

/** @throws NamespaceNotFoundError naming the ones that are active. */
export async function requireActive(view: AdminView, nsid: number): Promise<void> {
  const found = await activeNamespaces(view)
  if (!found.includes(nsid))
    throw new NamespaceNotFoundError(
      nsid,
      found.map((each) => ({ nsid: each })),
    )
}
