import { namespaceFormat } from '@gpunvme/host-driver'
import {
  CAP,
  countOf,
  IdentifyController,
  IdentifyNamespace,
  lbaFormatIndex,
  maxTransferBytes,
} from '@gpunvme/nvme-spec'
import { formatBytes } from '../terminal/units.js'
import { printable } from '../terminal/printable.js'
import { labelled } from './lines.js'

/** Selected data of Identify Controller, and of CAP if it is readable. */
export interface ControllerFacts {
  readonly model: string
  readonly serial: string
  readonly firmware: string
  /** '1.4.0'; undefined for a controller older than 1.2, which does not report it. */
  readonly version: string | undefined
  /** Undefined if MDTS sets no limit. */
  readonly maxTransferBytes: number | undefined
  /** CAP.MQES; undefined if CAP is not readable. */
  readonly maxQueueEntries: number | undefined
  readonly volatileWriteCache: boolean
  /** Capacity of the drive (TNVMCAP), in bytes; 0 if not reported. */
  readonly capacityBytes: bigint
  readonly powerStates: number
  readonly warningKelvins: number
  readonly criticalKelvins: number
  readonly hostMemoryPreferredBytes: number
}

/** Unit of HMPRE. */
const HMPRE_BYTES = 4096

/** @param cap the register; without it, MDTS is assumed to count pages of 4 KiB, as on all known drives. */
export function controllerFacts(raw: DataView, cap: bigint | undefined): ControllerFacts {
  const data = IdentifyController.view(raw)
  const { MJR, MNR, TER } = IdentifyController.VER
  return {
    model: data.MN,
    serial: data.SN,
    firmware: data.FR,
    version: data.VER === 0 ? undefined : [MJR, MNR, TER].map((field) => field.of(data.VER)).join('.'),
    maxTransferBytes: maxTransferBytes(data.MDTS, cap === undefined ? 0 : CAP.MPSMIN.of(cap)),
    maxQueueEntries: cap === undefined ? undefined : countOf(CAP.MQES.of(cap)),
    volatileWriteCache: IdentifyController.VWC.VWCP.of(data.VWC) === 1,
    capacityBytes: data.TNVMCAP,
    powerStates: countOf(data.NPSS),
    warningKelvins: data.WCTEMP,
    criticalKelvins: data.CCTEMP,
    hostMemoryPreferredBytes: data.HMPRE * HMPRE_BYTES,
  }
}

export function describeController(facts: ControllerFacts): string[] {
  const { maxTransferBytes: longest, maxQueueEntries, hostMemoryPreferredBytes: hostMemory } = facts
  return [
    'Controller',
    labelled('model', printable(facts.model)),
    labelled('serial number', printable(facts.serial)),
    labelled('firmware', printable(facts.firmware)),
    labelled('NVMe version', facts.version ?? 'older than 1.2 (not reported)'),
    labelled('largest transfer', longest === undefined ? 'no limit (MDTS 0)' : `${formatBytes(longest)} (MDTS)`),
    labelled('queue entries', maxQueueEntries === undefined ? 'unknown (CAP)' : `up to ${maxQueueEntries} (CAP.MQES)`),
    labelled(
      'write cache',
      facts.volatileWriteCache ? 'volatile: writes are durable after Flush (VWC)' : 'none that requires Flush (VWC)',
    ),
    ...(hostMemory === 0 ? [] : [labelled('host memory', `prefers ${formatBytes(hostMemory)} (HMPRE)`)]),
  ]
}

/** A supported format of a namespace. */
export interface FormatFacts {
  readonly index: number
  readonly blockBytes: number
  readonly metadataBytes: number
  /** Relative Performance, as the specification names it. */
  readonly performance: string
  readonly inUse: boolean
}

/** Selected data of Identify Namespace. */
export interface NamespaceFacts {
  readonly nsid: number
  readonly blocks: number
  readonly blockBytes: number
  readonly capacityBytes: number
  /** Allocated blocks (NUSE). */
  readonly usedBlocks: number
  /** Why this driver cannot read or write it; undefined if it can. */
  readonly unsupported: string | undefined
  readonly formats: readonly FormatFacts[]
  /** Hexadecimal; undefined if there is none. */
  readonly nguid: string | undefined
  readonly eui64: string | undefined
}

const PERFORMANCE = ['best', 'better', 'good', 'degraded'] as const

export function namespaceFacts(nsid: number, raw: DataView): NamespaceFacts {
  const { blocks, blockBytes, unsupported } = namespaceFormat(nsid, raw)
  const { NGUID, EUI64, NUSE } = IdentifyNamespace.view(raw)
  return {
    nsid,
    blocks,
    blockBytes,
    capacityBytes: blocks * blockBytes,
    usedBlocks: NUSE,
    unsupported,
    formats: formatsOf(raw),
    nguid: identifierOf(NGUID),
    eui64: identifierOf(EUI64),
  }
}

function formatsOf(raw: DataView): FormatFacts[] {
  const data = IdentifyNamespace.view(raw)
  const { LBADS, MS, RP } = IdentifyNamespace.LBAF
  const count = Math.min(countOf(data.NLBAF), data.LBAF.length)
  const inUse = lbaFormatIndex(data.FLBAS, count)
  return Array.from(data.LBAF.subarray(0, count), (format, index) => ({
    index,
    blockBytes: 2 ** LBADS.of(format),
    metadataBytes: MS.of(format),
    performance: PERFORMANCE[RP.of(format)]!,
    inUse: index === inUse,
    // An unavailable format has LBADS 0.
  })).filter(({ index }) => LBADS.of(data.LBAF[index]!) !== 0)
}

function identifierOf(bytes: Uint8Array): string | undefined {
  return bytes.every((byte) => byte === 0) ? undefined : Buffer.from(bytes).toString('hex')
}

export function describeNamespace(facts: NamespaceFacts): string[] {
  const { nsid, blocks, blockBytes, capacityBytes, usedBlocks, unsupported, formats, nguid, eui64 } = facts
  return [
    `Namespace ${nsid}`,
    labelled('capacity', `${formatBytes(capacityBytes)} (${capacityBytes} bytes)`),
    labelled('blocks', `${blocks} of ${blockBytes} bytes (NSZE, LBADS)`),
    ...(usedBlocks === blocks ? [] : [labelled('in use', `${formatBytes(usedBlocks * blockBytes)} (NUSE)`)]),
    ...(unsupported === undefined ? [] : [labelled('not usable', unsupported)]),
    ...formats.map((format, at) => labelled(at === 0 ? 'formats' : '', describeFormat(format))),
    ...(nguid === undefined ? [] : [labelled('NGUID', nguid)]),
    ...(eui64 === undefined ? [] : [labelled('EUI64', eui64)]),
  ]
}

function describeFormat({ index, blockBytes, metadataBytes, performance, inUse }: FormatFacts): string {
  const metadata = metadataBytes === 0 ? '' : ` + ${metadataBytes} of metadata`
  return `${index}: ${blockBytes} bytes${metadata}, ${performance}${inUse ? ' (in use)' : ''}`
}
