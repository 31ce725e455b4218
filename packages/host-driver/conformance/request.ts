import type { FaultPlan, Transport } from '@gpunvme/nvme-spec/transport'

/** Requirements for a namespace; an omitted one accepts any value. */
export interface NamespaceRequest {
  readonly nsid?: number
  readonly blockBytes?: number
  /** Bytes of metadata per block. Default: none. */
  readonly metadataBytes?: number
  /** Minimum capacity in bytes. Default: 16 MiB. */
  readonly minBytes?: number
}

/** Requirements for a transport; an omitted one accepts any value. */
export interface TransportRequest {
  /** Exactly these namespaces, in order of NSID. Default: at least one that can be read and written. */
  readonly namespaces?: readonly NamespaceRequest[]
  /** CAP.DSTRD. */
  readonly dstrd?: number
  /** Entries of the largest queue: CAP.MQES + 1. */
  readonly maxQueueEntries?: number
  /** MDTS of Identify Controller: the limit is 2^mdts memory pages; 0 for none. */
  readonly mdts?: number
  /** Maximum number of I/O queue pairs that Number of Queues grants. */
  readonly ioQueuePairs?: number
  /** Faults of commands, completions and namespaces inside the controller. */
  readonly faults?: FaultPlan
}

/** A transport, opened for a case. */
export interface OpenedTransport {
  /** Closed by the suite. Its controller must be in the power-on state, or at least disabled. */
  readonly transport: Transport
  /** Serial number of the controller. Cases overwrite the data on its namespaces. */
  readonly serial: string
  /** Returns the host mistakes that the device has reported since it was opened; empty if there are none. */
  readonly mistakes?: () => readonly string[] | Promise<readonly string[]>
}

/** Opens a transport as requested, or returns the reason why that is not possible. */
export type OpenTransport = (request: TransportRequest) => Promise<OpenedTransport | string>

/** Fixed properties of a device. */
export interface DeviceShape extends Required<Omit<TransportRequest, 'faults' | 'namespaces'>> {
  readonly namespaces: readonly Required<NamespaceRequest>[]
}

const MIN_BYTES = 16 * 1024 * 1024

/**
 * Returns the reason why a device does not meet a request; undefined if it does. For openers with fixed devices.
 */
export function shortfall(device: DeviceShape, request: TransportRequest): string | undefined {
  if (request.faults !== undefined) return 'faults inside the controller need a simulated controller'
  for (const name of ['dstrd', 'maxQueueEntries', 'mdts', 'ioQueuePairs'] as const) {
    const wanted = request[name]
    if (wanted !== undefined && wanted !== device[name]) return `${name} is ${device[name]}, needed: ${wanted}`
  }
  const { namespaces } = request
  if (namespaces === undefined) {
    return device.namespaces.some((has) => fits(has, {})) ? undefined : 'it has no namespace of 16 MiB without metadata'
  }
  const alike = namespaces.length === device.namespaces.length
  if (alike && namespaces.every((wanted, index) => fits(device.namespaces[index]!, wanted))) return undefined
  return `its namespaces are ${inWords(device.namespaces)}, needed: ${inWords(namespaces)}`
}

function fits(has: Required<NamespaceRequest>, wanted: NamespaceRequest): boolean {
  const { nsid = has.nsid, blockBytes = has.blockBytes, metadataBytes = 0, minBytes = MIN_BYTES } = wanted
  const same = nsid === has.nsid && blockBytes === has.blockBytes && metadataBytes === has.metadataBytes
  return same && has.minBytes >= minBytes
}

function inWords(namespaces: readonly NamespaceRequest[]): string {
  const each = namespaces.map(({ nsid, blockBytes, metadataBytes, minBytes = MIN_BYTES }) => {
    const format = `${blockBytes ?? 'any'}${metadataBytes ? `+${metadataBytes}` : ''}-byte blocks`
    return `${nsid === undefined ? 'one' : `NSID ${nsid}`} of ${minBytes / 2 ** 20} MiB in ${format}`
  })
  return each.join(', ') || 'none'
}
