// Writes the C macros of commands: the opcode, and the dword of each field with its place in that dword. The entry of
// every command is struct gpunvme_sqe.
import { sqeFields } from '../dist/layout/commands.js'
import { comment, docOf, macro } from './names.mjs'
import { define, defineNumber, defineRow, knownValue } from './rows.mjs'

/**
 * @typedef {import('./items.mjs').Field} Field
 * @typedef {import('./rows.mjs').Output} Output
 */

/** @type {Record<string, Field>} */
const common = sqeFields

/** Writes the macros of a command, and a function of the check program that encodes an entry with them. */
export function writeCommand(
  /** @type {Output} */ out,
  /** @type {string} */ exportName,
  /** @type {import('../dist/layout/index.js').AnyCommand} */ command,
) {
  const { set, transfer, doc, spec, opcode } = command
  out.header.push('', comment(`${exportName} (${set} command, data: ${transfer}): ${doc} (${spec})`))
  defineNumber(out, ['OPC', exportName], `${exportName}.opcode`, opcode)
  const own = Object.entries(command.fields).filter(([key, field]) => field !== common[key])
  for (const [key, field] of own) writeField(out, exportName, key, field)
  out.functions.push(
    ...['', `static void encode_${macro(exportName).toLowerCase()}(void)`, '{', '\tuint32_t dw[16];'],
    `\tbegin(dw, ${macro('OPC', exportName)});`,
    ...own.map(([key, field]) => `\t${statement([exportName, key], field)}`),
    ...[`\tend("${exportName}", dw);`, '}'],
  )
  out.calls.push(`encode_${macro(exportName).toLowerCase()}();`)
}

const isWide = (/** @type {Field} */ field) => (field.offset % 4) + field.lengthBytes > 4

function writeField(
  /** @type {Output} */ out,
  /** @type {string} */ owner,
  /** @type {string} */ key,
  /** @type {Field} */ field,
) {
  const { offset, lengthBytes, msb, lsb, rows, values, open = false } = field
  const doc = docOf(field)
  const path = `${owner}.${key}`
  const dword = define(out, [owner, key, 'DWORD'], `${Math.floor(offset / 4)}`)
  if (isWide(field)) {
    if (offset % 4 !== 0) throw new Error(`${path}: a field longer than one dword must be dword-aligned`)
    define(out, [owner, key, 'BITS'], `${lengthBytes * 8}`, doc)
    return
  }
  const shift = (offset % 4) * 8
  defineRow(out, [owner, key], path, { msb, lsb, doc, values, open }, `4 * ${dword}`, shift)
  for (const [name, row] of Object.entries(rows)) {
    defineRow(out, [owner, key, name], `${path}.${name}`, row, `4 * ${dword}`, shift)
  }
}

/** Returns C statements that store a known value in a field. */
function statement(/** @type {string[]} */ parts, /** @type {Field} */ field) {
  const name = macro(...parts)
  if (isWide(field)) return `wide(dw, ${name}_DWORD, ${name}_BITS);`
  if (Object.keys(field.rows).length === 0)
    return `dw[${name}_DWORD] |= (uint32_t)GPUNVME_FIELD_PREP(${name}, ${knownValue(parts, field)});`
  return Object.entries(field.rows)
    .map(([row, bits]) => [macro(...parts, row), knownValue([...parts, row], bits)])
    .map(([row, value]) => `dw[${name}_DWORD] |= (uint32_t)GPUNVME_FIELD_PREP(${row}, ${value});`)
    .join('\n\t')
}
