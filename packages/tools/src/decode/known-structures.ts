import { CNS, CSI, identifyStructure, LID, logStructure } from '@gpunvme/nvme-spec'
import { UsageError } from '../command-line/tools-error.js'

/** Error of an unknown structure of Identify; lists the known ones. */
export function unknownIdentify(cns: number, csi: number): UsageError {
  const sets = named(CSI.values, (other) => identifyStructure(cns, other) !== undefined)
  const known =
    sets.length > 0
      ? `--cns ${cns} is known with --csi ${sets.join(' ')}`
      : `known --cns: ${named(CNS.values, (other) => isKnownIdentify(other, csi)).join(' ')}`
  return unknown(`--cns ${cns} --csi ${csi}`, known)
}

/** Error of an unknown log page; lists the known ones. */
export function unknownLog(lid: number): UsageError {
  const known = named(LID.values, (other) => logStructure(other) !== undefined)
  return unknown(`--lid ${lid}`, `known --lid: ${known.join(' ')}`)
}

function unknown(flags: string, known: string): UsageError {
  return new UsageError(`Unknown structure: ${flags}`, {
    facts: [known],
    next: { command: ['help', 'nvme', 'decode'] },
  })
}

/** The descriptor list has no declared structure, but is decoded. */
function isKnownIdentify(cns: number, csi: number): boolean {
  return cns === CNS.NAMESPACE_DESCRIPTOR_LIST || identifyStructure(cns, csi) !== undefined
}

function named(values: Readonly<Record<string, number>>, isKnown: (value: number) => boolean): string[] {
  return Object.entries(values)
    .filter(([, value]) => isKnown(value))
    .map(([name, value]) => `0x${value.toString(16).padStart(2, '0')}=${name}`)
}
