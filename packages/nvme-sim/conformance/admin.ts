import { success } from './check.js'
import type { Completed } from './completed.js'
import type { CaseHost } from './host.js'
import type { CaseMemory } from './memory.js'

// Admin commands that many cases use. Options are numbers, results are bytes.

export interface IdentifyOptions {
  readonly nsid?: number
  /** CDW10.CNTID */
  readonly cntid?: number
  /** CDW11.CSI */
  readonly csi?: number
}

/** Identify (06h), with any status. */
export function askIdentify(
  host: CaseHost,
  cns: number,
  { nsid = 0, cntid = 0, csi = 0 }: IdentifyOptions = {},
  memory = host.alloc(4096),
): Promise<Completed> {
  return host.admin({ opcode: 0x06, nsid, prp1: memory.iova(), cdw: { 10: cns | (cntid << 16), 11: csi << 24 } })
}

/** Returns the 4096 bytes of Identify, which must succeed. */
export async function identify(host: CaseHost, cns: number, options?: IdentifyOptions): Promise<DataView> {
  const memory = host.alloc(4096)
  success(await askIdentify(host, cns, options, memory))
  return new DataView(memory.read().buffer)
}

/** Returns the NSIDs of a Namespace List up to the first 0h (Base 2.3 §4.6.2). */
export function namespaceList(list: DataView): number[] {
  const nsids = Array.from({ length: 1024 }, (_, index) => list.getUint32(index * 4, true))
  const end = nsids.indexOf(0)
  return end < 0 ? nsids : nsids.slice(0, end)
}

export async function activeNamespaces(host: CaseHost): Promise<number[]> {
  return namespaceList(await identify(host, 0x02))
}

/** Returns the lowest NSID that is valid and not active; undefined if there is none. */
export async function inactiveNamespace(host: CaseHost): Promise<number | undefined> {
  const active = new Set(await activeNamespaces(host))
  for (let nsid = 1; nsid <= Math.min(host.facts.nn, active.size + 1); nsid++) if (!active.has(nsid)) return nsid
  return undefined
}

export interface LogOptions {
  /** Default: FFFFFFFFh, for data of the whole controller. */
  readonly nsid?: number
  readonly offset?: number
  readonly retain?: boolean
  readonly memory?: CaseMemory
}

/** Get Log Page (02h), with any status. */
export function askLog(
  host: CaseHost,
  lid: number,
  lengthBytes: number,
  { nsid = 0xffff_ffff, offset = 0, retain = false, memory = host.alloc(lengthBytes) }: LogOptions = {},
): Promise<Completed> {
  const dwords = lengthBytes / 4 - 1
  const cdw = {
    10: lid | (retain ? 0x8000 : 0) | ((dwords & 0xffff) << 16),
    11: dwords >>> 16,
    12: offset % 2 ** 32,
    13: Math.floor(offset / 2 ** 32),
  }
  const prp2 = lengthBytes > host.pageBytes ? memory.iova(host.pageBytes) : 0
  return host.admin({ opcode: 0x02, nsid, prp1: memory.iova(), prp2, cdw })
}

/** Returns the bytes of a log page, at most two memory pages; the command must succeed. */
export async function readLog(
  host: CaseHost,
  lid: number,
  lengthBytes: number,
  options: LogOptions = {},
): Promise<DataView> {
  const memory = options.memory ?? host.alloc(lengthBytes)
  success(await askLog(host, lid, lengthBytes, { ...options, memory }))
  return new DataView(memory.read(0, lengthBytes).buffer)
}

export interface FeatureOptions {
  readonly nsid?: number
  /** SEL: 0 current, 1 default, 2 saved, 3 supported capabilities. */
  readonly select?: number
  readonly cdw11?: number
  /** Memory for the data structure of a feature. */
  readonly memory?: CaseMemory
}

/** Get Features (0Ah), with any status. */
export function getFeature(host: CaseHost, fid: number, options: FeatureOptions = {}): Promise<Completed> {
  const { nsid = 0, select = 0, cdw11 = 0, memory } = options
  return host.admin({ opcode: 0x0a, nsid, prp1: memory?.iova() ?? 0, cdw: { 10: fid | (select << 8), 11: cdw11 } })
}

/** Returns DW0 of Get Features, which must succeed. */
export async function feature(host: CaseHost, fid: number, options?: FeatureOptions): Promise<number> {
  const completed = await getFeature(host, fid, options)
  success(completed)
  return completed.dw0
}

/** Set Features (09h), with any status. */
export function setFeature(
  host: CaseHost,
  fid: number,
  cdw11: number,
  { nsid = 0, save = false }: { nsid?: number; save?: boolean } = {},
): Promise<Completed> {
  return host.admin({ opcode: 0x09, nsid, cdw: { 10: fid | (save ? 0x8000_0000 : 0), 11: cdw11 } })
}

/** Returns a skip condition for controllers with a lower VS: '2.0' is major 2, minor 0. */
export function needsVersion(major: number, minor: number): (facts: { vs: number }) => string | undefined {
  return ({ vs }) =>
    vs >= major * 0x1_0000 + minor * 0x100
      ? undefined
      : `VS is ${vs >>> 16}.${(vs >>> 8) & 0xff}, the requirement applies from ${major}.${minor} on`
}
