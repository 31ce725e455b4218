import { GetFeatures, SetFeatures } from './admin/features.js'
import { allCommands, allFeatures } from './all.js'
import { decodeFields, describeFields, type Layout } from './layout/codec.js'
import { cdw, type AnyCommand, type CommandSet } from './layout/command.js'
import type { FeatureDword } from './layout/feature.js'
import type { AnyWord32 } from './layout/word.js'
import { DSM, PRINFO } from './nvm/io-words.js'
import { decodeSglDescriptor, formatSglDescriptor, SGL1_OFFSET } from './sgl.js'
import { SQE } from './sqe.js'

/** Fields of commands whose bits have names, by name. */
const fieldWords: Readonly<Record<string, AnyWord32>> = { DSM, PRINFO, PRINFOR: PRINFO, PRINFOW: PRINFO }

const setNames = { admin: 'Admin', nvm: 'NVM', zns: 'ZNS' } as const

/**
 * The command that an opcode means in a queue's command set; undefined where none is declared. A Zoned Namespace
 * queue takes the commands of the NVM Command Set as well. Each command carries its source as `spec`.
 */
export function commandOf(set: CommandSet, opcode: number): AnyCommand | undefined {
  const own = allCommands.find((command) => command.set === set && command.opcode === opcode)
  return own ?? (set === 'zns' ? commandOf('nvm', opcode) : undefined)
}

/** A submission queue entry as an object. */
export interface DecodedSqe {
  /** The spec's name of the command; undefined where the opcode is not declared. */
  readonly command: string | undefined
  readonly set: CommandSet
  /**
   * The command's fields by name; of an opcode that is not declared, those of every entry and its raw dwords. Where
   * PSDT says that data is described by an SGL, SGL1 stands for PRP1 and PRP2, which are the same bytes. PRINFO and
   * DSM are objects of their bits; CETYPE not 0, CEV stands for DSM, whose byte it includes.
   */
  readonly fields: Readonly<Record<string, unknown>>
}

/**
 * Decodes a submission queue entry as the command that its queue and opcode make it.
 * @throws RangeError where `data` ends before the 64 bytes of the entry do.
 */
export function decodeSqe(set: CommandSet, data: DataView, byteOffset = 0): DecodedSqe {
  const command = commandOf(set, SQE.view(data, byteOffset).OPC)
  const fields: Record<string, unknown> = decodeFields(layoutOf(command, data, byteOffset), data, byteOffset)
  for (const [key, word] of Object.entries(fieldWords)) {
    const bits = fields[key]
    if (typeof bits === 'number') fields[key] = word.decode(bits)
  }
  const raw = SQE.view(data, byteOffset)
  for (const [key, word] of featureWords(command, data, byteOffset)) fields[key] = word.decode(raw[key])
  if (hasSgl(data, byteOffset)) {
    delete fields['PRP1']
    delete fields['PRP2']
    fields['SGL1'] = decodeSglDescriptor(data, byteOffset + SGL1_OFFSET)
  }
  return { command: command?.name, set, fields }
}

/**
 * A submission queue entry as text, by the command that its queue and opcode make it: `Read CID=0x0412 NSID=1 …`.
 * @throws RangeError where `data` ends before the 64 bytes of the entry do.
 */
export function formatSqe(set: CommandSet, data: DataView, byteOffset = 0): string {
  const raw = SQE.view(data, byteOffset)
  const { OPC } = raw
  const command = commandOf(set, OPC)
  const words = new Map(
    featureWords(command, data, byteOffset).map(([key, word]) => [key as string, word.describe(raw[key])]),
  )
  const sgl1 = hasSgl(data, byteOffset)
    ? [`SGL1={ ${formatSglDescriptor(data, byteOffset + SGL1_OFFSET)} }`]
    : undefined
  const lines = describeFields(layoutOf(command, data, byteOffset), data, byteOffset).flatMap((line) => {
    const [key = ''] = line.split('=', 1)
    if (key in fieldWords) return `${key}={ ${fieldWords[key]!.describe(Number(line.slice(key.length + 1)))} }`
    // Once, in the place of the first of the two.
    if (sgl1 !== undefined && (key === 'PRP1' || key === 'PRP2')) return sgl1.splice(0)
    return key === 'OPC' ? [] : [words.has(key) ? `${key}={ ${words.get(key)!} }` : line]
  })
  return [command?.name ?? `${setNames[set]} opcode 0x${OPC.toString(16).padStart(2, '0')}`, ...lines].join(' ')
}

const commandExtensionValue = cdw(13, 15, 0, 'Command Extension Value')

/** What the bytes of an entry are: Read and Write with a CETYPE other than 0 have a CEV instead of DSM. */
function layoutOf(command: AnyCommand | undefined, data: DataView, byteOffset: number): Layout {
  if (command === undefined) return SQE
  const { CETYPE, DSM } = command.fields
  if (CETYPE === undefined || DSM === undefined || CETYPE.get(data, byteOffset) === 0) return command
  const fields = Object.entries(command.fields).map((row) => (row[1] === DSM ? ['CEV', commandExtensionValue] : row))
  return { ...command, fields: Object.fromEntries(fields) as Layout['fields'] }
}

/** Whether bytes 39:24 are an SGL descriptor (Base 2.1 §4.1.1, Figure 92); reserved, PSDT says nothing of them. */
function hasSgl(data: DataView, byteOffset: number): boolean {
  const { PSDT } = SQE.view(data, byteOffset)
  return PSDT === SQE.PSDT.SGL || PSDT === SQE.PSDT.SGL_SEGMENT_MPTR
}

/** The dwords of Set or Get Features to which the feature that the entry names gives rows. */
function featureWords(
  command: AnyCommand | undefined,
  data: DataView,
  byteOffset: number,
): [Exclude<FeatureDword, 'DW0'>, AnyWord32][] {
  const features = [SetFeatures.name, GetFeatures.name].includes(command?.name ?? '')
  if (command === undefined || !features) return []
  const { FID } = SetFeatures.view(data, byteOffset)
  const feature = allFeatures.find(({ fid }) => fid === FID)
  const dwords = ['CDW11', 'CDW12', 'CDW13', 'CDW14', 'CDW15'] as const
  return dwords.flatMap((key) => {
    const word = feature?.[key]
    return word !== undefined && key in command.fields ? [[key, word]] : []
  })
}
