import type { FaultPlan, Transport } from '@gpunvme/nvme-spec/transport'

/** A namespace that a case needs; what is not said may be as it is. */
export interface NamespaceRequest {
  readonly nsid?: number
  readonly blockBytes?: number
  /** Bytes of metadata with each block; none when not given. */
  readonly metadataBytes?: number
  /** The least that it may hold; 16 MiB when not given. */
  readonly leastBytes?: number
}

/** What a case needs a transport to be; what is not said may be as it is. */
export interface TransportRequest {
  /** These and no others, in order of NSID; at least one that can be read and written when not given. */
  readonly namespaces?: readonly NamespaceRequest[]
  /** CAP.DSTRD. */
  readonly dstrd?: number
  /** CAP.MQES as a count: the entries of the largest queue. */
  readonly maxQueueEntries?: number
  /** MDTS as Identify Controller has it: a power of two of memory pages; 0 is no limit. */
  readonly mdts?: number
  /** I/O queue pairs that Number of Queues grants at most. */
  readonly ioQueuePairs?: number
  /** What happens to commands, completions and namespaces inside the controller. */
  readonly faults?: FaultPlan
}

/** A transport that was opened for a case. */
export interface OpenedTransport {
  /** Closed by the suite. Its controller is as after power on, or at least disabled. */
  readonly transport: Transport
  /** The serial number of its controller: cases write, and what the namespaces hold is lost. */
  readonly serial: string
  /** What the device says that the host did wrong since it was opened, in its own words; empty is well. */
  readonly mistakes?: () => readonly string[] | Promise<readonly string[]>
}

/** Gives a transport that is as requested, or says why there is none. */
export type OpenTransport = (request: TransportRequest) => Promise<OpenedTransport | string>

/** A device that is what it is. */
export interface DeviceShape extends Required<Omit<TransportRequest, 'faults' | 'namespaces'>> {
  readonly namespaces: readonly Required<NamespaceRequest>[]
}

const LEAST_BYTES = 16 * 1024 * 1024

/** Why `device` is not what was requested, for openers that cannot make another; undefined where it is. */
export function shortfall(device: DeviceShape, request: TransportRequest): string | undefined {
  if (request.faults !== undefined) return 'faults inside the controller take a simulated one'
  for (const name of ['dstrd', 'maxQueueEntries', 'mdts', 'ioQueuePairs'] as const) {
    const wanted = request[name]
    if (wanted !== undefined && wanted !== device[name]) return `${name} is ${device[name]}, and ${wanted} is needed`
  }
  const { namespaces } = request
  if (namespaces === undefined) {
    return device.namespaces.some((has) => fits(has, {})) ? undefined : 'it has no namespace of 16 MiB without metadata'
  }
  const alike = namespaces.length === device.namespaces.length
  if (alike && namespaces.every((wanted, index) => fits(device.namespaces[index]!, wanted))) return undefined
  return `its namespaces are ${inWords(device.namespaces)}, and ${inWords(namespaces)} is needed`
}

function fits(has: Required<NamespaceRequest>, wanted: NamespaceRequest): boolean {
  const { nsid = has.nsid, blockBytes = has.blockBytes, metadataBytes = 0, leastBytes = LEAST_BYTES } = wanted
  const same = nsid === has.nsid && blockBytes === has.blockBytes && metadataBytes === has.metadataBytes
  return same && has.leastBytes >= leastBytes
}

function inWords(namespaces: readonly NamespaceRequest[]): string {
  const each = namespaces.map(({ nsid, blockBytes, metadataBytes, leastBytes = LEAST_BYTES }) => {
    const format = `${blockBytes ?? 'any'}${metadataBytes ? `+${metadataBytes}` : ''}-byte blocks`
    return `${nsid === undefined ? 'one' : `NSID ${nsid}`} of ${leastBytes / 2 ** 20} MiB in ${format}`
  })
  return each.join(', ') || 'none'
}
