import { payloadLimit, type Link } from '@gpunvme/nvme-spec/pcie'
import { isKnown, unknown, type Known } from './known.js'
import type { Machine } from './machine.js'
import type { LinkShape, PciFunction } from './pci-function.js'
import { judge, type Meeting, type Verdict } from './peer-to-peer.js'
import { ancestorsOf, bestOf, functionAt, hasLinkAbove, nowOf } from './tree.js'

/** The path between two functions of a machine. */
export interface Path {
  readonly from: string
  readonly to: string
  readonly meeting: Meeting
  /** The bridge above both, or the host bridge's domain and bus; undefined with two host bridges. */
  readonly meetAt: string | undefined
  /** All links between them, from `from` to `to`. */
  readonly links: readonly PathLink[]
  /** The slowest link, and its payload limit. */
  readonly slowest: Known<PathLimit>
  /** Memory writes: doorbells by a GPU, data by a drive to GPU memory. */
  readonly writes: Verdict
  /** Memory reads: of registers by a GPU, of GPU memory by a drive. */
  readonly reads: Verdict
  /** Conditions of both. */
  readonly notes: readonly string[]
}

export interface PathLink {
  /** The function at its lower end. */
  readonly address: string
  readonly best: Known<LinkShape>
  readonly now: Known<LinkShape>
}

export interface PathLimit extends LinkShape {
  /** The function at the link's lower end. */
  readonly address: string
  /** The smallest Max_Payload_Size on the path. */
  readonly maxPayloadBytes: number
  readonly payloadBytesPerSecond: number
}

/** @throws RangeError for an address without a function in the machine. */
export function pathBetween(machine: Machine, from: string, to: string): Path {
  const [a, b] = [known(machine, from), known(machine, to)]
  const up = [a, ...ancestorsOf(machine, from)]
  const down = [b, ...ancestorsOf(machine, to)]
  const common = up.find((found) => down.includes(found))
  const within = (chain: PciFunction[]) => (common === undefined ? chain : chain.slice(0, chain.indexOf(common)))
  const [rising, falling] = [within(up), within(down)]
  const links = [...rising, ...falling.toReversed()].filter((found) => found.link !== undefined && hasLinkAbove(found))
  const [topA, topB] = [up.at(-1)!, down.at(-1)!]
  const meeting = common === undefined ? meetingOf(machine, topA, topB) : 'same-switch'
  return {
    ...{ from, to, meeting },
    meetAt: common?.address ?? (topA.hostBridge === topB.hostBridge ? topA.hostBridge : undefined),
    links: links.map((found) => linkOf(machine, found)),
    slowest: slowestOf(machine, links, [...rising, ...falling]),
    ...judge(machine, { a, b, meeting, common, rising, falling }),
  }
}

/** Max_Payload_Size that every link supports: the assumption where the size in use cannot be read. */
const MIN_PAYLOAD_BYTES = 128

/**
 * Returns the slowest link from a function to the CPU. Where its Max_Payload_Size is unreadable, such as without root,
 * `MIN_PAYLOAD_BYTES` is assumed.
 * @throws RangeError for an address without a function in the machine.
 */
export function linkToCpu(machine: Machine, address: string): Known<PathLimit> {
  const up = [known(machine, address), ...ancestorsOf(machine, address)]
  const links = up.filter((found) => found.link !== undefined && hasLinkAbove(found))
  return slowestOf(machine, links, up, MIN_PAYLOAD_BYTES)
}

function known(machine: Machine, address: string): PciFunction {
  const found = functionAt(machine, address)
  if (found === undefined)
    throw new RangeError(`address: expected the address of a function of this machine, got ${JSON.stringify(address)}`)
  return found
}

/** For functions on buses of host bridges; functions behind VMD count as below its host bridge. */
function meetingOf({ cpu }: Machine, a: PciFunction, b: PciFunction): Meeting {
  if (a.hostBridge === b.hostBridge) return 'same-host-bridge'
  if (cpu.sockets === 1) return 'same-socket'
  if (a.numaNode !== undefined && b.numaNode !== undefined)
    return a.numaNode === b.numaNode ? 'same-socket' : 'across-sockets'
  return 'unknown'
}

function linkOf(machine: Machine, found: PciFunction): PathLink {
  const { address, link } = found
  const now = !isKnown(link) ? link : (link?.now ?? unknown('it has no link'))
  return { address, best: bestOf(machine, found) ?? unknown('neither end reports it'), now }
}

/** @param assumedBytes Max_Payload_Size of functions where it is unreadable; without it, the limit is unknown. */
function slowestOf(
  machine: Machine,
  links: readonly PciFunction[],
  all: readonly PciFunction[],
  assumedBytes?: number,
): Known<PathLimit> {
  if (machine.virtualisation.hypervisor !== undefined) return unknown('links of a virtual machine are emulated')
  if (links.length === 0) return unknown('the kernel reports no link on the path')
  const sizes = all.map(({ packets }) => packets)
  const hidden = sizes.find((packets) => !isKnown(packets))
  if (hidden !== undefined && !isKnown(hidden) && assumedBytes === undefined) return hidden
  const payloads = sizes.flatMap((packets) => {
    if (!isKnown(packets)) return assumedBytes ?? []
    return packets === undefined ? [] : packets.maxPayloadBytes
  })
  const maxPayloadBytes = payloads.reduce((min, each) => Math.min(min, each), Infinity)
  const limits = links.flatMap((found) => {
    const shape = countedShape(machine, found)
    const link = shape && linkAt(shape, maxPayloadBytes)
    if (shape === undefined || link === undefined) return []
    return [{ ...shape, address: found.address, maxPayloadBytes, payloadBytesPerSecond: payloadLimit(link) }]
  })
  if (limits.length < links.length) return unknown('the rate of one of its links is unknown')
  return limits.reduce((slowest, limit) =>
    limit.payloadBytesPerSecond < slowest.payloadBytesPerSecond ? limit : slowest,
  )
}

/**
 * Returns the expected link under load: the trained lanes and the current speed, except for devices that lower the
 * speed when idle, such as GPUs, or sleep.
 */
export function countedShape(machine: Machine, found: PciFunction): LinkShape | undefined {
  const best = bestOf(machine, found)
  const now = nowOf(found)
  if (best === undefined || now === undefined) return best
  return { gen: isGpu(found) ? best.gen : Math.min(now.gen, best.gen), lanes: Math.min(now.lanes, best.lanes) }
}

/** Base class 03h: a display controller. */
export function isGpu({ classCode }: PciFunction): boolean {
  return classCode >>> 16 === 0x03
}

/** The payload model covers up to Gen5 and the sizes of packets that PCIe has; other links have no limit. */
function linkAt({ gen, lanes }: LinkShape, mps: number): Link | undefined {
  if (gen > 5 || ![1, 2, 4, 8, 16].includes(lanes) || !(mps >= 128 && mps <= 4096)) return undefined
  return { gen: gen as Link['gen'], width: lanes, mps }
}
