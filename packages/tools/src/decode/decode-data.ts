import { CNS, ErrorLogEntry, identifyStructure, LID, logStructure } from '@gpunvme/nvme-spec'
import { explain } from '@gpunvme/nvme-spec/explain'
import { decodeEntries, decodeNamespaceIds, decodeStructure, type Found, type FoundEntry } from './decode-structure.js'

/** Decodes Identify data; undefined for an unknown structure. @throws UsageError for incomplete data. */
export function decodeIdentify(cns: number, csi: number, data: DataView): Found | undefined {
  // The only list with entries of variable length.
  if (cns === CNS.NAMESPACE_DESCRIPTOR_LIST) return decodeNamespaceIds(data)
  const structure = identifyStructure(cns, csi)
  return structure && decodeStructure(structure, data)
}

/** Decodes a log page; undefined for an unknown one. @throws UsageError for incomplete data. */
export function decodeLog(lid: number, data: DataView): Found | undefined {
  // The only page that consists of entries.
  if (lid === LID.ERROR_INFORMATION) return decodeEntries(ErrorLogEntry, data, errorEntry)
  const structure = logStructure(lid)
  return structure && decodeStructure(structure, data)
}

function errorEntry(data: DataView, at: number): FoundEntry {
  const text = ErrorLogEntry.describe(data, at).join(' ')
  const entry = { fields: ErrorLogEntry.decode(data, at) }
  if (text === '') return { text: 'no error', entry }
  const { name, spec } = ErrorLogEntry
  return { text, entry, explained: () => ({ title: name, spec, lines: explain(ErrorLogEntry, data, at) }) }
}
