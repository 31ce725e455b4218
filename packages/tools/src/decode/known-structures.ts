import { CNS, CSI, identifyStructure, LID, logStructure } from '@gpunvme/nvme-spec'
import { wrap } from '../terminal/table.js'
import { UsageError } from '../command-line/usage-error.js'

/** No structure is declared for what Identify was asked: says for which one is. */
export function unknownIdentify(cns: number, csi: number, columns: number): UsageError {
  const sets = named(CSI.values, (other) => identifyStructure(cns, other) !== undefined)
  const known =
    sets.length > 0
      ? `--cns ${cns} is known with --csi ${sets.join(' ')}`
      : `known --cns: ${named(CNS.values, (other) => isKnownIdentify(other, csi)).join(' ')}`
  return unknown(`--cns ${cns} --csi ${csi}`, folded(known, columns))
}

/** No structure is declared for a log page: says for which one is. */
export function unknownLog(lid: number, columns: number): UsageError {
  const known = named(LID.values, (other) => logStructure(other) !== undefined)
  return unknown(`--lid ${lid}`, folded(`known --lid: ${known.join(' ')}`, columns))
}

/** Words under the first line of an error, folded as wide as the terminal is. */
export function folded(text: string, columns: number): string {
  return wrap(text, columns - 2, '  ').join('\n  ')
}

function unknown(flags: string, known: string): UsageError {
  return new UsageError(`No structure is known for ${flags}`, { facts: [known], next: { command: ['help', 'decode'] } })
}

/** The list of descriptors has no structure of its own, and is decoded nonetheless. */
function isKnownIdentify(cns: number, csi: number): boolean {
  return cns === CNS.NAMESPACE_DESCRIPTOR_LIST || identifyStructure(cns, csi) !== undefined
}

function named(values: Readonly<Record<string, number>>, isKnown: (value: number) => boolean): string[] {
  return Object.entries(values)
    .filter(([, value]) => isKnown(value))
    .map(([name, value]) => `0x${value.toString(16).padStart(2, '0')}=${name}`)
}
