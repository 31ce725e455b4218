import * as spec from '@gpunvme/nvme-spec'
import {
  CNS,
  CQE,
  CSI,
  ErrorLogEntry,
  IdentifyController,
  identifyStructure,
  LID,
  logStructure,
  registers,
  SmartHealthLog,
  SQE,
} from '@gpunvme/nvme-spec'
import { explain, explainCqe, explainSqe, explainWord, type ExplainedEntry } from '@gpunvme/nvme-spec/explain'
import type { AnyRegister, AnyStruct } from '@gpunvme/nvme-spec/layout'

/** A way to decode bytes. */
export interface Kind {
  /** Value of the option in the select. */
  readonly id: string
  readonly group: string
  readonly label: string
  readonly lengthBytes: number
  /** Whether further bytes are more entries, rather than data after a header. */
  readonly repeats: boolean
  explain(data: DataView, byteOffset: number): ExplainedEntry
}

function structure(id: string, group: string, label: string, layout: AnyStruct): Kind {
  const { name, spec: source, bytes } = layout
  const explained = (data: DataView, byteOffset: number) => ({
    title: name,
    spec: source,
    lines: explain(layout, data, byteOffset),
  })
  return { id, group, label, lengthBytes: bytes, repeats: layout === ErrorLogEntry, explain: explained }
}

/** Explains a register value. */
export function explainRegister(register: AnyRegister, value: bigint): ExplainedEntry {
  const raw = register.widthBits === 64 ? value : Number(value)
  return { title: register.name, spec: register.spec, lines: explainWord(register, raw) }
}

function registerKind(register: AnyRegister): Kind {
  const { name, doc, widthBits } = register
  return {
    id: `register ${name}`,
    group: 'Registers',
    label: `${name}: ${doc}`,
    lengthBytes: widthBits / 8,
    repeats: false,
    explain: (data, at) =>
      explainRegister(register, widthBits === 64 ? data.getBigUint64(at, true) : BigInt(data.getUint32(at, true))),
  }
}

function entryKind(id: string, label: string, lengthBytes: number, entry: Kind['explain']): Kind {
  return { id, group: 'Queue entries', label, lengthBytes, repeats: true, explain: entry }
}

const hex = (value: number) => `${value.toString(16).toUpperCase().padStart(2, '0')}h`
const entriesOf = (codes: { readonly values: Readonly<Record<string, number>> }) => Object.entries(codes.values)

const identify = entriesOf(CNS).flatMap(([name, cns]) => {
  const sets = entriesOf(CSI).filter(([, csi]) => identifyStructure(cns, csi) !== undefined)
  // Structures that are the same for every command set are listed once.
  const distinct = new Set(sets.map(([, csi]) => identifyStructure(cns, csi)))
  const shown = distinct.size === 1 ? sets.slice(0, 1) : sets
  return shown.map(([set, csi]) => {
    const label = `CNS ${hex(cns)} ${name.toLowerCase().replaceAll('_', ' ')}${distinct.size > 1 ? `, ${set}` : ''}`
    return structure(`identify ${cns} ${csi}`, 'Identify', label, identifyStructure(cns, csi)!)
  })
})

const logs = entriesOf(LID).flatMap(([name, lid]) => {
  const layout = logStructure(lid)
  const label = `LID ${hex(lid)} ${name.toLowerCase().replaceAll('_', ' ')}`
  return layout === undefined ? [] : [structure(`log ${lid}`, 'Log pages', label, layout)]
})

const named = new Set<unknown>([
  ...entriesOf(CNS).flatMap(([, cns]) => entriesOf(CSI).map(([, csi]) => identifyStructure(cns, csi))),
  ...entriesOf(LID).map(([, lid]) => logStructure(lid)),
  SQE,
  CQE,
])

const others = Object.values(spec as Readonly<Record<string, unknown>>)
  .filter(
    (value): value is AnyStruct =>
      typeof value === 'object' && value !== null && 'bytes' in value && 'decode' in value && !named.has(value),
  )
  .map((layout) => structure(`structure ${layout.name}`, 'Other structures', layout.name, layout))
  .sort((a, b) => a.label.localeCompare(b.label))

/** All ways to decode bytes. */
export const kinds: readonly Kind[] = [
  entryKind('sqe nvm', 'Submission queue entry, NVM', SQE.bytes, (data, at) => explainSqe('nvm', data, at)),
  entryKind('sqe admin', 'Submission queue entry, Admin', SQE.bytes, (data, at) => explainSqe('admin', data, at)),
  entryKind('sqe zns', 'Submission queue entry, Zoned Namespace', SQE.bytes, (data, at) => explainSqe('zns', data, at)),
  entryKind('cqe', 'Completion queue entry', CQE.bytes, (data, at) => explainCqe(data, at)),
  ...identify,
  ...logs,
  ...registers.map(registerKind),
  ...others,
]

const byId = new Map(kinds.map((kind) => [kind.id, kind]))

/** Returns the kind with this id; undefined for an unknown id. */
export function kindOf(id: string): Kind | undefined {
  return byId.get(id)
}

/**
 * Guesses the kind of bytes from their length; undefined if none fits. Identify Controller and Identify Namespace have
 * the same length: only the former has the sizes of SQE and CQE as minimum entry sizes in SQES and CQES.
 */
export function guessKind(bytes: Uint8Array): Kind | undefined {
  const { length } = bytes
  if (length === IdentifyController.bytes) {
    const { SQES, CQES } = IdentifyController.decode(viewOf(bytes))
    const isController = 2 ** SQES.MINSQES === SQE.bytes && 2 ** CQES.MINCQES === CQE.bytes
    return kindOf(`identify ${isController ? CNS.CONTROLLER : CNS.NAMESPACE} ${CSI.NVM}`)
  }
  if (length === SmartHealthLog.bytes) return kindOf(`log ${LID.SMART_HEALTH_INFORMATION}`)
  if (length === 4) return kindOf('register CC')
  if (length === 8) return kindOf('register CAP')
  if (length > 0 && length % SQE.bytes === 0) return kindOf('sqe nvm')
  if (length > 0 && length % CQE.bytes === 0) return kindOf('cqe')
  return undefined
}

/** Returns a view of bytes. */
export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
