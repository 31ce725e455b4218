import { GetFeatures, SetFeatures } from './admin/features.js'
import { allCommands, allFeatures } from './all.js'
import { SQE } from './entries.js'
import {
  bytes,
  cdw,
  decodeFields,
  encodeFields,
  formatFields,
  rejectValue,
  u8,
  type AnyCommand,
  type BitsMap,
  type CommandSet,
  type FeatureDword,
  type Field,
  type FieldMap,
  type Layout,
  type Memory,
} from './layout/index.js'
import { FABRICS_OPCODE, fabricsPsdt } from './fabrics/entry.js'
import { isPlain, viewOf } from './layout/facts.js'
import { DSM, PRINFO } from './nvm/commands.js'
import {
  type DecodedSglDescriptor,
  decodeSglDescriptor,
  encodeSglDescriptor,
  formatSglDescriptor,
  SGL1_OFFSET,
  SGL_DESCRIPTOR_BYTES,
} from './sgl.js'

/** Rows of fields that several commands have, by field. */
const sharedRows: Readonly<Record<string, BitsMap>> = {
  DSM: DSM.fields,
  PRINFO: PRINFO.fields,
  PRINFOR: PRINFO.fields,
  PRINFOW: PRINFO.fields,
}

const setNames = { admin: 'Admin', nvm: 'NVM', zns: 'ZNS' } as const

/**
 * Returns the command of an opcode in a queue's command set; undefined if none is declared. A Zoned Namespace queue
 * also accepts the commands of the NVM Command Set. Each command has its source as `spec`.
 */
export function commandOf(set: CommandSet, opcode: number): AnyCommand | undefined {
  if (!Object.hasOwn(setNames, set))
    rejectValue({ name: 'SQE', spec: SQE.spec }, 'command set', 'admin, nvm or zns', set, 'string')
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
   * 0, CEV replaces DSM, whose byte it includes. A Fabrics command (opcode 7Fh) has FCTYPE instead of NSID;
   * `decodeFabricsSqe` of `@gpunvme/nvme-spec/fabrics` decodes the rest.
   */
  readonly fields: Readonly<Record<string, unknown>>
}

/**
 * Decodes a submission queue entry as the command given by its queue and opcode.
 * @throws RangeError if `memory` ends before the 64 bytes of the entry do.
 */
export function decodeSqe(set: CommandSet, memory: Memory, byteOffset = 0): DecodedSqe {
  const data = viewOf(SQE, memory, byteOffset)
  const command = commandOf(set, data.getUint8(byteOffset))
  const fields: Record<string, unknown> = decodeFields(layoutIn(command, data, byteOffset), data, byteOffset)
  if (fields['SGL1'] !== undefined) fields['SGL1'] = decodeSglDescriptor(data, byteOffset + SGL1_OFFSET)
  return { command: command?.name, set, fields }
}

/**
 * Encodes a result of `decodeSqe` to the same 64 bytes.
 * @throws TypeError or RangeError for a value that does not fit its field, naming it; nothing is written then.
 */
export function encodeSqe(decoded: DecodedSqe, memory: Memory, byteOffset = 0): void {
  const { set, command: name, fields } = isPlain(decoded) ? decoded : ({} as Partial<DecodedSqe>)
  const where = { name: typeof name === 'string' ? name : 'SQE', spec: SQE.spec }
  if (!isPlain(fields)) rejectValue(where, 'fields', 'an object of fields, as returned by decodeSqe', fields, '')
  const named = allCommands.find((candidate) => candidate.name === name)
  const opcode = fields['OPC'] ?? named?.opcode
  const command = typeof opcode === 'number' ? commandOf(set!, opcode) : undefined
  if (typeof opcode !== 'number' || command?.name !== name)
    rejectValue(where, 'Opcode', named ? `0x${named.opcode.toString(16)}` : 'an undeclared opcode', opcode)
  const { SGL1, ...rest } = fields
  const isFabrics = 'FCTYPE' in rest
  const hasSgl = isFabrics || rest['PSDT'] === SQE.PSDT.SGL || rest['PSDT'] === SQE.PSDT.SGL_SEGMENT_MPTR
  if (hasSgl !== (SGL1 !== undefined) || (hasSgl && ('PRP1' in rest || 'PRP2' in rest)))
    rejectValue(where, 'PSDT', 'SGL1 if PSDT selects an SGL, otherwise PRP1 and PRP2', rest['PSDT'] ?? 0)
  const hasFeature = variantsOf(command).fid !== undefined && Number.isInteger(rest['FID'])
  const fid = hasFeature ? (rest['FID'] as number) & 0xff : undefined
  const layout = variantOf(command, { hasSgl, isExtended: 'CEV' in rest, isFabrics, fid })
  const descriptor = new DataView(new ArrayBuffer(SGL_DESCRIPTOR_BYTES))
  if (hasSgl) encodeSglDescriptor(descriptor, 0, SGL1 as DecodedSglDescriptor)
  const values = { ...rest, OPC: opcode, ...(hasSgl && { SGL1: new Uint8Array(descriptor.buffer) }) }
  encodeFields(layout, memory, byteOffset, values, { allowReserved: true })
}

/**
 * Formats a submission queue entry as the command given by its queue and opcode: `Read CID=0x0412 NSID=1 …`. Zero
 * fields are omitted, except those needed to understand a command: selectors, LBAs and 0's based counts. An undeclared
 * opcode is shown with its queue: `Admin opcode 0xc0 …`. `formatFabricsSqe` of `@gpunvme/nvme-spec/fabrics` formats
 * Fabrics commands, with the fields of their type.
 * @throws RangeError if `memory` ends before the 64 bytes of the entry do.
 */
export function formatSqe(set: CommandSet, memory: Memory, byteOffset = 0): string {
  const data = viewOf(SQE, memory, byteOffset)
  const opcode = data.getUint8(byteOffset)
  const command = commandOf(set, opcode)
  const layout = layoutIn(command, data, byteOffset)
  let text =
    layout.name === SQE.name ? `${setNames[set]} opcode 0x${opcode.toString(16).padStart(2, '0')}` : layout.name
  for (const [name, value] of formatFields(layout, data, byteOffset, layout.telling)) {
    if (name === 'SGL1') text += ` SGL1={ ${formatSglDescriptor(data, byteOffset + SGL1_OFFSET)} }`
    else if (name === 'NSID' && value === BROADCAST) text += ' NSID=0xffffffff'
    else if (name !== 'OPC') text += ` ${name}=${value}`
  }
  return text
}

const BROADCAST = '4294967295'

const FIRST_OWN_BYTE = 40

const commandExtensionValue = cdw(13, 15, 0, 'Command Extension Value')
const fctype = u8(4, 'Fabrics Command Type')
const sgl1 = bytes(SGL1_OFFSET, SGL_DESCRIPTOR_BYTES, 'SGL Entry 1')

/** What determines the fields of an entry beside its command. */
interface Variant {
  /** Bytes 39:24 are an SGL descriptor (Base 2.1 §4.1.1, Figure 92). */
  readonly hasSgl: boolean
  /** Read and Write with a CETYPE other than 0 have a CEV instead of DSM. */
  readonly isExtended: boolean
  /** Byte 4 of a Fabrics command is its type instead of NSID, and its data has an SGL (Base 2.2 §4.1.2, Figure 94). */
  readonly isFabrics: boolean
  /** The feature of Set or Get Features. */
  readonly fid: number | undefined
}

/** The layout of one variant of a command. */
interface VariantLayout extends Layout {
  /** Whether each field is shown even if it is zero. */
  readonly telling: readonly boolean[]
}

/** The variants of a command: how entries select one, and its layout. */
interface Variants {
  /** Read the fields that select a variant; undefined if the command has no such field. */
  readonly psdt: Load
  readonly cetype: Load | undefined
  readonly fid: Load | undefined
  /** Layouts by variant. Each is created once, since decoding prepares a layout on first use. */
  readonly layouts: Map<number, VariantLayout>
}

type Load = (data: DataView, byteOffset: number) => number

const known = new Map<AnyCommand | undefined, Variants>()

function variantsOf(command: AnyCommand | undefined): Variants {
  let variants = known.get(command)
  if (variants === undefined) {
    const fields: FieldMap = (command ?? SQE).fields
    const { PSDT, CETYPE, DSM, FID } = fields
    const loadOf = (field: Field | undefined) => field?.codec(field).get as Load | undefined
    const isFeatures = command?.name === SetFeatures.name || command?.name === GetFeatures.name
    const cetype = DSM === undefined ? undefined : loadOf(CETYPE)
    variants = { psdt: loadOf(PSDT)!, cetype, fid: isFeatures ? loadOf(FID) : undefined, layouts: new Map() }
    known.set(command, variants)
  }
  return variants
}

/**
 * Returns the layout of the submission queue entry at byteOffset: that of its command, or of SQE for an undeclared
 * opcode. SGL1 replaces PRP1 and PRP2 if PSDT selects an SGL. Set Features and Get Features have the rows of their
 * feature. A Fabrics command has FCTYPE instead of NSID.
 * @throws RangeError if `memory` ends before the 64 bytes of the entry do.
 */
export function sqeLayout(set: CommandSet, memory: Memory, byteOffset = 0): Layout {
  const data = viewOf(SQE, memory, byteOffset)
  return layoutIn(commandOf(set, data.getUint8(byteOffset)), data, byteOffset)
}

function layoutIn(command: AnyCommand | undefined, data: DataView, byteOffset: number): VariantLayout {
  const { psdt, cetype, fid } = variantsOf(command)
  const PSDT = psdt(data, byteOffset)
  const isFabrics = data.getUint8(byteOffset) === FABRICS_OPCODE
  return variantOf(command, {
    hasSgl: isFabrics || PSDT === SQE.PSDT.SGL || PSDT === SQE.PSDT.SGL_SEGMENT_MPTR,
    isExtended: cetype !== undefined && cetype(data, byteOffset) !== 0,
    isFabrics,
    fid: fid?.(data, byteOffset),
  })
}

function variantOf(command: AnyCommand | undefined, variant: Variant): VariantLayout {
  const { layouts } = variantsOf(command)
  const { hasSgl, isExtended, isFabrics, fid = 0x100 } = variant
  const number = (fid << 3) | (Number(isFabrics) << 2) | (Number(isExtended) << 1) | Number(hasSgl)
  let layout = layouts.get(number)
  if (layout === undefined) layouts.set(number, (layout = makeVariant(command ?? SQE, variant)))
  return layout
}

function makeVariant(
  { name, bytes, spec, fields: declared }: Layout,
  { hasSgl, isExtended, isFabrics, fid }: Variant,
): VariantLayout {
  const feature = allFeatures.find((candidate) => candidate.fid === fid)
  const variant = Object.entries(declared).flatMap(([key, field]): [string, FieldMap[string]][] => {
    if (hasSgl && key === 'PRP1') return [['SGL1', sgl1]]
    if (hasSgl && key === 'PRP2') return []
    if (isFabrics && key === 'NSID') return [['FCTYPE', fctype]]
    if (isFabrics && key === 'PSDT') return [['PSDT', fabricsPsdt]]
    if (isExtended && key === 'DSM') return [['CEV', commandExtensionValue]]
    const rows = feature?.[key as FeatureDword]?.fields ?? sharedRows[key]
    return [[key, rows === undefined ? field : { ...field, rows }]]
  })
  const fields = Object.fromEntries(variant)
  const telling = Object.values(fields).map(
    (field) =>
      field === fctype ||
      (field.offset >= FIRST_OWN_BYTE &&
        (field.zeroBased === true || field.lengthBytes === 8 || Object.keys(field.values).length > 0)),
  )
  return {
    ...(isFabrics ? { name: 'Fabrics Command', spec: 'Base 2.2 §4.1.2' } : { name, spec }),
    bytes,
    fields,
    telling,
  }
}
