// Writes C structures with natural alignment: no bit-fields, no `packed`.
import { isPart } from '../dist/layout/index.js'
import { membersOf } from './members.mjs'
import { comment, constant, lower, uniqueNames } from './names.mjs'
import { define, defineRow } from './rows.mjs'

/**
 * @typedef {import('./items.mjs').AnyStruct} AnyStruct
 * @typedef {import('./items.mjs').Field} Field
 * @typedef {import('./rows.mjs').Output} Output
 * @typedef {import('./members.mjs').Member} Member
 */

/** Writes a structure with its assertions, the macros of its rows, and a function of the check program. */
export function writeStruct(
  /** @type {Output} */ out,
  /** @type {string} */ exportName,
  /** @type {AnyStruct} */ struct,
  /** @type {import('./members.mjs').NestedOf} */ nestedOf,
  align = 1,
) {
  const tag = out.unique(`gpunvme_${lower(exportName, exportName)}`, exportName)
  const members = membersOf(exportName, struct, nestedOf)
  const unique = uniqueNames()
  out.header.push('', comment(`${exportName}: ${struct.doc} (${struct.spec})`), `struct ${tag} {`)
  members.forEach(({ name, type, count, doc }, i) => {
    const aligned = i === 0 && align > 1 ? `GPUNVME_ALIGNED(${align}) ` : ''
    const array = count === 1 ? '' : `[${count}]`
    out.header.push(`\t${aligned}${type} ${unique(name, `${exportName}.${name}`)}${array};${doc && ` ${comment(doc)}`}`)
  })
  out.header.push('};', `GPUNVME_ASSERT_SIZE(struct ${tag}, ${struct.bytes});`)
  for (const { name, offset } of members) out.header.push(`GPUNVME_ASSERT_OFFSET(struct ${tag}, ${name}, ${offset});`)
  for (const member of members) {
    const at = `offsetof(struct ${tag}, ${member.name})`
    for (const [key, field] of member.rows) writeRows(out, exportName, [key, field], member, at)
  }
  writeCheck(out, exportName, tag, members)
  return { tag, align: Math.max(align, ...members.map((member) => member.align)) }
}

/** Writes the macros of a field that is a part of a member, and of a field's rows and named values. */
function writeRows(
  /** @type {Output} */ out,
  /** @type {string} */ owner,
  /** @type {[string, Field]} */ [key, field],
  /** @type {Member} */ member,
  /** @type {string} */ at,
) {
  const path = `${owner}.${key}`
  if (isPart(field)) {
    defineRow(out, [owner, key], path, field, at, (field.offset - member.offset) * 8)
    return
  }
  for (const [name, row] of Object.entries(field.rows)) defineRow(out, [owner, key, name], `${path}.${name}`, row, at)
  for (const [name, value] of Object.entries(field.values)) {
    const valueName = define(out, [owner, key, name], constant(value))
    out.words.push(`{"value", "${path}.${name}", ${at}, ${valueName}},`)
  }
}

/** Writes a function that fills a structure with a known pattern and prints the value of every member. */
function writeCheck(
  /** @type {Output} */ out,
  /** @type {string} */ exportName,
  /** @type {string} */ tag,
  /** @type {Member[]} */ members,
) {
  out.words.push(`{"number", "${exportName}.bytes", 0, sizeof(struct ${tag})},`)
  out.functions.push('', `static void check_${tag}(void)`, '{', `\tstruct ${tag} s;`, '\tfill(&s, sizeof(s));')
  for (const { name, rows, count, type } of members) {
    const [row] = rows
    if (row === undefined || isPart(row[1])) continue
    const element = count === 1 ? `s.${name}` : `s.${name}[${count - 1}]`
    const value = type.startsWith('struct') ? '0' : type === 'char' ? `(unsigned char)${element}` : element
    const size = value === '0' ? '0' : `sizeof(${element})`
    const at = `offsetof(struct ${tag}, ${name})`
    out.functions.push(`\tmember("${exportName}.${row[0]}", ${at}, sizeof(s.${name}), ${size}, ${value});`)
  }
  out.functions.push('}')
  out.calls.push(`check_${tag}();`)
}
