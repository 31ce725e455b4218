import { GetFeatures, SetFeatures } from './admin/features.js'
import { allCommands, allFeatures } from './all.js'
import { SQE } from './entries.js'
import {
  type AnyCommand,
  type AnyWord32,
  cdw,
  type CommandSet,
  decodeFields,
  describeFields,
  encodeBits,
  encodeFields,
  type FeatureDword,
  type Field,
  type Layout,
  refuse,
} from './layout/index.js'
import { isPlain } from './layout/placed.js'
import { DSM, PRINFO } from './nvm/commands.js'
import {
  type DecodedSglDescriptor,
  decodeSglDescriptor,
  encodeSglDescriptor,
  formatSglDescriptor,
  SGL1_OFFSET,
} from './sgl.js'

/** Fields of commands whose bits have names, by name. */
const fieldWords: Readonly<Record<string, AnyWord32>> = { DSM, PRINFO, PRINFOR: PRINFO, PRINFOW: PRINFO }

const setNames = { admin: 'Admin', nvm: 'NVM', zns: 'ZNS' } as const

/**
 * Returns the command of an opcode in a queue's command set; undefined if none is declared. A Zoned Namespace queue
 * also accepts the commands of the NVM Command Set. Each command has its source as `spec`.
 */
export function commandOf(set: CommandSet, opcode: number): AnyCommand | undefined {
  if (!Object.hasOwn(setNames, set))
    refuse({ name: 'SQE', spec: SQE.spec }, 'command set', 'admin, nvm or zns', set, 'string')
  return byOpcode[set].get(opcode) ?? (set === 'zns' ? byOpcode.nvm.get(opcode) : undefined)
}

const byOpcode = /*#__PURE__*/ commandsByOpcode()

function commandsByOpcode(): Readonly<Record<CommandSet, ReadonlyMap<number, AnyCommand>>> {
  const of = (set: CommandSet) =>
    new Map(allCommands.filter((command) => command.set === set).map((command) => [command.opcode, command]))
  return { admin: of('admin'), nvm: of('nvm'), zns: of('zns') }
}

/** A submission queue entry as an object. */
export interface DecodedSqe {
  /** The specification's name of the command; undefined if the opcode is not declared. */
  readonly command: string | undefined
  readonly set: CommandSet
  /**
   * The command's fields by name; for an undeclared opcode, the common fields and raw dwords. If PSDT selects an SGL,
   * SGL1 replaces PRP1 and PRP2, which are the same bytes. PRINFO and DSM are objects of their bits; if CETYPE is not
   * 0, CEV replaces DSM, whose byte it includes.
   */
  readonly fields: Readonly<Record<string, unknown>>
}

/**
 * Decodes a submission queue entry as the command given by its queue and opcode.
 * @throws RangeError if `data` ends before the 64 bytes of the entry do.
 */
export function decodeSqe(set: CommandSet, data: DataView, byteOffset = 0): DecodedSqe {
  const command = commandOf(set, SQE.view(data, byteOffset).OPC)
  const fields: Record<string, unknown> = decodeFields(layoutOf(command, data, byteOffset), data, byteOffset)
  for (const [key, word] of Object.entries(fieldWords)) {
    const bits = fields[key]
    if (typeof bits === 'number') fields[key] = word.decode(bits)
  }
  const raw = SQE.view(data, byteOffset)
  for (const [key, word] of featureDwords(command, fidOf(command, data, byteOffset)))
    fields[key] = word.decode(raw[key])
  if (hasSgl(data, byteOffset)) {
    delete fields['PRP1']
    delete fields['PRP2']
    fields['SGL1'] = decodeSglDescriptor(data, byteOffset + SGL1_OFFSET)
  }
  return { command: command?.name, set, fields }
}

/**
 * Encodes a result of `decodeSqe` to the same 64 bytes.
 * @throws TypeError or RangeError for a value that does not fit its field, naming it; nothing is written then.
 */
export function encodeSqe(decoded: DecodedSqe, data: DataView, byteOffset = 0): void {
  const { set, command: name, fields } = isPlain(decoded) ? decoded : ({} as Partial<DecodedSqe>)
  const where = { name: typeof name === 'string' ? name : 'SQE', spec: SQE.spec }
  if (!isPlain(fields)) refuse(where, 'fields', 'an object of fields, as returned by decodeSqe', fields, '')
  const named = allCommands.find((candidate) => candidate.name === name)
  const opcode = fields['OPC'] ?? named?.opcode
  const command = typeof opcode === 'number' ? commandOf(set!, opcode) : undefined
  if (typeof opcode !== 'number' || command?.name !== name)
    refuse(where, 'Opcode', named ? `0x${named.opcode.toString(16)}` : 'an undeclared opcode', opcode)
  const { SGL1, ...rest } = fields
  const layout = command === undefined ? SQE : 'CEV' in rest ? withExtension(command) : command
  const words = new Map<string, AnyWord32>([...Object.entries(fieldWords), ...featureDwords(command, rest['FID'])])
  const raw = Object.entries(rest).map(([key, value]) => {
    const word = words.get(key)
    if (word === undefined || typeof value !== 'object') return [key, value]
    const at = { name: `${layout.name}.${key}`, spec: word.spec }
    return [key, Number(encodeBits(at, 32, word.fields, value, 0n, true))]
  })
  const entry = new DataView(new ArrayBuffer(SQE.bytes))
  encodeFields(layout, entry, 0, { ...Object.fromEntries(raw), OPC: opcode }, { asFound: true })
  if (hasSgl(entry, 0) !== (SGL1 !== undefined) || (SGL1 !== undefined && ('PRP1' in rest || 'PRP2' in rest)))
    refuse(where, 'PSDT', 'SGL1 if PSDT selects an SGL, otherwise PRP1 and PRP2', SQE.view(entry).PSDT)
  if (SGL1 !== undefined) encodeSglDescriptor(entry, SGL1_OFFSET, SGL1 as DecodedSglDescriptor)
  // Checks the length.
  SQE.view(data, byteOffset)
  new Uint8Array(data.buffer, data.byteOffset + byteOffset, SQE.bytes).set(new Uint8Array(entry.buffer))
}

/**
 * Formats a submission queue entry as the command given by its queue and opcode: `Read CID=0x0412 NSID=1 …`. Zero
 * fields are omitted, except those needed to understand a command: selectors, LBAs and 0's based counts.
 * @throws RangeError if `data` ends before the 64 bytes of the entry do.
 */
export function formatSqe(set: CommandSet, data: DataView, byteOffset = 0): string {
  const raw = SQE.view(data, byteOffset)
  const { OPC } = raw
  const command = commandOf(set, OPC)
  const words = new Map(
    featureDwords(command, fidOf(command, data, byteOffset)).map(([key, word]) => [
      key as string,
      word.describe(raw[key]),
    ]),
  )
  const sgl1 = hasSgl(data, byteOffset)
    ? [`SGL1={ ${formatSglDescriptor(data, byteOffset + SGL1_OFFSET)} }`]
    : undefined
  const lines = describeFields(layoutOf(command, data, byteOffset), data, byteOffset, isTelling).flatMap((line) => {
    const [key = ''] = line.split('=', 1)
    if (line === BROADCAST) return 'NSID=0xffffffff'
    if (key in fieldWords) return `${key}={ ${fieldWords[key]!.describe(Number(line.slice(key.length + 1)))} }`
    // Printed once, in place of the first of the two.
    if (sgl1 !== undefined && (key === 'PRP1' || key === 'PRP2')) return sgl1.splice(0)
    return key === 'OPC' ? [] : [words.has(key) ? `${key}={ ${words.get(key)!} }` : line]
  })
  return [command?.name ?? `${setNames[set]} opcode 0x${OPC.toString(16).padStart(2, '0')}`, ...lines].join(' ')
}

const BROADCAST = 'NSID=4294967295'

/** Whether a field of a command is shown even if it is zero. */
function isTelling(_key: string, { offset, lengthBytes, values, zeroBased }: Field): boolean {
  return offset >= FIRST_OWN_BYTE && (Object.keys(values).length > 0 || zeroBased === true || lengthBytes === 8)
}

const FIRST_OWN_BYTE = 40

const commandExtensionValue = cdw(13, 15, 0, 'Command Extension Value')

/** The layout of an entry: Read and Write with a CETYPE other than 0 have a CEV instead of DSM. */
function layoutOf(command: AnyCommand | undefined, data: DataView, byteOffset: number): Layout {
  if (command === undefined) return SQE
  const { CETYPE, DSM } = command.fields
  if (CETYPE === undefined || DSM === undefined || CETYPE.get(data, byteOffset) === 0) return command
  return withExtension(command)
}

const extended = new WeakMap<AnyCommand, Layout>()

/** Created once for each command: results are cached by layout. */
function withExtension(command: AnyCommand): Layout {
  const known = extended.get(command)
  if (known !== undefined) return known
  const { name, bytes, spec, fields } = command
  const rows = Object.entries(fields).map(([key, row]) => (key === 'DSM' ? ['CEV', commandExtensionValue] : [key, row]))
  const made = { name, bytes, spec, fields: Object.fromEntries(rows) as Layout['fields'] }
  extended.set(command, made)
  return made
}

/** Whether bytes 39:24 are an SGL descriptor (Base 2.1 §4.1.1, Figure 92); not for reserved values of PSDT. */
function hasSgl(data: DataView, byteOffset: number): boolean {
  const PSDT = SQE.fields.PSDT.get(data, byteOffset)
  return PSDT === SQE.PSDT.SGL || PSDT === SQE.PSDT.SGL_SEGMENT_MPTR
}

function fidOf(command: AnyCommand | undefined, data: DataView, byteOffset: number): number | undefined {
  return command !== undefined && isFeatures(command) ? SetFeatures.view(data, byteOffset).FID : undefined
}

const featureCdws = ['CDW11', 'CDW12', 'CDW13', 'CDW14', 'CDW15'] as const

/** Returns the dwords of Set or Get Features with rows declared by the entry's feature. */
function featureDwords(command: AnyCommand | undefined, fid: unknown): [Exclude<FeatureDword, 'DW0'>, AnyWord32][] {
  if (command === undefined || !isFeatures(command)) return []
  const feature = allFeatures.find((candidate) => candidate.fid === fid)
  return featureCdws.flatMap((key) => {
    const word = feature?.[key]
    return word !== undefined && key in command.fields ? [[key, word]] : []
  })
}

function isFeatures(command: AnyCommand): boolean {
  return command.name === SetFeatures.name || command.name === GetFeatures.name
}
