// Adds comments for the rows of declarations to dist/**/*.d.ts, so that editors describe `CC.EN` or `id.MDTS`. tsc
// cannot emit them, since the descriptions are values and the types are inferred. Runs after tsc. Members that have a
// comment are not changed.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import ts from 'typescript'
import { long } from '../dist/layout/access.js'
import { bitPlace, bytePlace, commandPlace } from './places.mjs'

const dist = join(import.meta.dirname, '..', 'dist')

/**
 * Field maps that are not exported, each with an export that has the same fields, and the name to use in comments.
 * @type {Record<string, [like: string, owner: string]>}
 */
const unexported = {
  commandFields: ['FabricsSqe', 'Fabrics SQE'],
  commonHeader: ['TcpPduHeader', 'PDU Common Header'],
  messageHeader: ['DhChapChallenge', 'Authentication message'],
}

/**
 * @typedef {Record<string, { rows?: Rows | undefined, comment?: string }>} Rows comments for the members of a type, by name
 */

const inBytes = (/** @type {any} */ field) => `byte${field.lengthBytes === 1 ? '' : 's'} ${bytePlace(field)}`
const inDwords = (/** @type {any} */ field) =>
  field.lengthBytes > 4 ? `Dwords ${commandPlace(field)}` : `Dword ${commandPlace(field).replace(',', ' bits')}`

for (const file of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
  // Skips files of an earlier build whose source was deleted: they may not load any more.
  if (!file.endsWith('.d.ts') || !existsSync(join(dist, '..', 'src', file.replace(/\.d\.ts$/, '.ts')))) continue
  const path = join(dist, file)
  const text = readFileSync(path, 'utf8')
  if (!/^export declare const /m.test(text)) continue
  const module = await import(pathToFileURL(path.replace(/\.d\.ts$/, '.js')).href)
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  /** @type {[at: number, comment: string][]} */
  const comments = []
  for (const statement of source.statements) {
    if (!ts.isVariableStatement(statement)) continue
    for (const { name, type } of statement.declarationList.declarations) {
      const constant = name.getText(source)
      const [like, owner] = unexported[constant] ?? []
      const rows = rowsOf(like === undefined ? module[constant] : { ...module[like], name: owner })
      if (type !== undefined && rows !== undefined) annotate(type, rows, comments)
    }
  }
  if (comments.length === 0) continue
  let documented = text
  for (const [at, comment] of comments.sort(([a], [b]) => b - a))
    documented = `${documented.slice(0, at)}/** ${comment} */\n${indentAt(text, at)}${documented.slice(at)}`
  writeFileSync(path, documented)
}

/** Returns comments for the rows of a declaration; undefined for other values. @returns {Rows | undefined} */
function rowsOf(/** @type {any} */ value) {
  if (typeof value !== 'object' || value === null) return undefined
  const { name, spec, fields, widthBits, opcode, access, fid, data } = value
  if (typeof spec !== 'string')
    return Object.values(value).every(isField) ? fieldRows(value, 'SQE', 'Base 2.1 §4.1.1', inDwords) : undefined
  if (fid !== undefined) {
    const dwords = ['CDW11', 'CDW12', 'CDW13', 'CDW14', 'CDW15', 'DW0'].filter((key) => key in value)
    const words = dwords.map((key) => [key, { rows: bitRows(value[key].fields, `${name}, ${key}`, spec) }])
    return { ...Object.fromEntries(words), ...(data === undefined ? {} : rowsOf(data)) }
  }
  if (fields === undefined) return undefined
  if (widthBits !== undefined) return bitRows(fields, access === undefined ? name : `${name} (${access})`, spec)
  return fieldRows(fields, name, spec, opcode === undefined ? inBytes : inDwords)
}

function isField(/** @type {any} */ value) {
  return typeof value === 'object' && value !== null && 'lengthBytes' in value && 'doc' in value
}

/** @returns {Rows} */
function fieldRows(
  /** @type {any} */ fields,
  /** @type {string} */ owner,
  /** @type {string} */ spec,
  /** @type {(field: any) => string} */ place,
) {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [
      name,
      {
        comment: sentence(field, `${owner}, ${place(field)}`, spec) + exactness(field),
        rows: field.struct === undefined ? bitRows(field.rows, `${owner}.${name}`, spec) : rowsOf(field.struct),
      },
    ]),
  )
}

/** @returns {Rows} */
function bitRows(/** @type {any} */ rows, /** @type {string} */ owner, /** @type {string} */ spec) {
  return Object.fromEntries(
    Object.entries(rows).map(([name, row]) => [
      name,
      { comment: sentence(row, `${owner}, bit${row.msb === row.lsb ? '' : 's'} ${bitPlace(row)}`, spec) },
    ]),
  )
}

function sentence(/** @type {any} */ { doc, zeroBased }, /** @type {string} */ place, /** @type {string} */ spec) {
  return `${doc}${zeroBased ? "; 0's based" : ''}. ${place}. ${spec}.`.replaceAll('*/', '* /')
}

/** Returns a sentence on the precision of `n64` fields; an empty string for other fields. */
function exactness(/** @type {any} */ { codec }) {
  return codec === long ? ' A cursor rounds values from 2^53; decoding returns them as bigints.' : ''
}

/** Adds to `comments` those for the members of type literals, with their positions. */
function annotate(/** @type {ts.Node} */ type, /** @type {Rows} */ rows, /** @type {[number, string][]} */ comments) {
  if (!ts.isTypeLiteralNode(type)) {
    ts.forEachChild(type, (child) => annotate(child, rows, comments))
    return
  }
  for (const member of type.members) {
    const row = member.name === undefined ? undefined : rows[member.name.getText()]
    if (row === undefined || !ts.isPropertySignature(member)) continue
    const isDocumented = ts.getJSDocCommentsAndTags(member).length > 0
    if (row.comment !== undefined && !isDocumented) comments.push([member.getStart(), row.comment])
    if (row.rows !== undefined && member.type !== undefined) annotate(member.type, row.rows, comments)
  }
}

/** Returns the spaces before a position. */
function indentAt(/** @type {string} */ text, /** @type {number} */ at) {
  return / *$/.exec(text.slice(0, at))?.[0] ?? ''
}
