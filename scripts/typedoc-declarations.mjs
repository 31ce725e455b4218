// A typedoc plugin for constants that the declaration functions of nvme-spec create. The offset, rows, named values and
// source of such a constant are in its value, not in its type. The plugin reads them from the built package and appends
// them to the constant's comment. A declaration without a comment gets its `doc` instead.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Comment, CommentTag, Converter, ReflectionKind } from 'typedoc'
import { bitPlace, bytePlace, commandPlace } from '../packages/nvme-spec/scripts/places.mjs'

const dist = join(import.meta.dirname, '..', 'packages', 'nvme-spec', 'dist')
const built = {
  '@gpunvme/nvme-spec': await import(join(dist, 'index.js')),
  '@gpunvme/nvme-spec/fabrics': await import(join(dist, 'fabrics', 'index.js')),
  '@gpunvme/nvme-spec/layout': await import(join(dist, 'layout', 'index.js')),
  '@gpunvme/nvme-spec/pcie': await import(join(dist, 'pcie.js')),
}

const source = join(import.meta.dirname, '..', 'packages', 'nvme-spec', 'src')

/** Returns the groups of the main entry's exports, by source file: the comments above them in index.ts. */
function groupsOfExports() {
  const groups = new Map()
  let group = ''
  for (const line of readFileSync(join(source, 'index.ts'), 'utf8').split('\n')) {
    group = /^\/\/ (.*)$/.exec(line)?.[1] ?? group
    const [, file] = /from '\.\/(.*)\.js'$/.exec(line) ?? []
    if (file !== undefined) groups.set(join(source, `${file}.ts`), group)
  }
  return groups
}

export function load(app) {
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    const groups = groupsOfExports()
    for (const module of project.getChildrenByKind(ReflectionKind.Module)) {
      for (const child of module.name === '@gpunvme/nvme-spec' ? (module.children ?? []) : []) {
        const { signatures = [], sources = [] } = child
        for (const documented of signatures.length > 0 ? signatures : [child]) {
          documented.comment ??= new Comment()
          documented.comment.blockTags.push(
            new CommentTag('@category', [{ kind: 'text', text: groups.get(sources[0]?.fullFileName) }]),
          )
        }
      }
      for (const constant of module.getChildrenByKind(ReflectionKind.Variable)) {
        const value = built[module.name]?.[constant.name]
        if (typeof value?.doc !== 'string' || typeof value.spec !== 'string') continue
        constant.comment ??= new Comment()
        if (constant.comment.summary.length === 0)
          constant.comment.summary.push({ kind: 'text', text: `${escape(value.doc)}.` })
        constant.comment.summary.push({ kind: 'text', text: `\n\n${describe(value).join('\n\n')}` })
      }
    }
  })
}

/** Returns paragraphs and tables that describe a declaration. */
function describe({ spec, ...value }) {
  const source = `Source: ${escape(spec)}.`
  if (value.widthBits !== undefined) {
    const place =
      value.offset === undefined ? '' : `Offset ${hex(value.offset)} of the registers, access ${value.access}; `
    return [`${place}${value.widthBits} bits. ${source}`, bitTable(value.fields)]
  }
  if (value.opcode !== undefined) {
    const facts = `Opcode ${hex(value.opcode)} of command set ${value.set}, data transfer ${value.transfer}. ${source}`
    return [facts, fieldTable(value.fields, commandPlace)]
  }
  if (value.fields !== undefined) return [`${value.bytes} bytes. ${source}`, fieldTable(value.fields, bytePlace)]
  if (value.fid !== undefined) {
    const words = Object.entries(value).filter(([, word]) => word?.widthBits !== undefined)
    const tables = words.flatMap(([name, { fields }]) => [`${name}:`, bitTable(fields)])
    const data = value.data === undefined ? '' : `, with data: ${value.data.name}, ${value.data.bytes} bytes`
    return [`Feature Identifier ${hex(value.fid)}${data}. ${source}`, ...tables]
  }
  if (value.values === undefined) return [source]
  return [
    source,
    table(
      ['Value', 'Name'],
      Object.entries(value.values).map(([name, code]) => [hex(code), name]),
    ),
  ]
}

function bitTable(rows) {
  const cells = Object.entries(rows).map(([name, row]) => [bitPlace(row), name, meaning(row)])
  return table(['Bits', 'Name', 'Meaning'], cells)
}

function fieldTable(fields, placeOf) {
  const cells = Object.entries(fields).flatMap(([name, field]) => [
    [placeOf(field), name, meaning(field)],
    ...Object.entries(field.rows).map(([row, bits]) => [
      `${bits.msb === bits.lsb ? 'bit' : 'bits'} ${bitPlace(bits)}`,
      `${name}.${row}`,
      meaning(bits),
    ]),
  ])
  return table([placeOf === bytePlace ? 'Bytes' : 'Dword and bits', 'Name', 'Meaning'], cells)
}

function meaning({ doc, values, zeroBased, struct }) {
  const named = Object.entries(values).map(([name, value]) => `${name} ${value}`)
  const notes = [zeroBased ? "0's based" : '', named.join(', '), struct ? `each a ${struct.name}` : '']
  return [doc, ...notes.filter((note) => note !== '')].join('; ')
}

function table(head, rows) {
  const lines = [head, head.map(() => '---'), ...rows.map((row) => row.map(escape))]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

function hex(value) {
  return `${value.toString(16).toUpperCase().padStart(2, '0')}h`
}

/** Escapes characters that have a meaning in Markdown. */
function escape(text) {
  return text.replace(/[\\|<>*_`[\]{}@]/g, (character) => `\\${character}`)
}
