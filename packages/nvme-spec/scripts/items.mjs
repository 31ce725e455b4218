// Lists the declarations of all entry points, with the export and the source file of each.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { allCommands, allFeatures, declarationsIn } from '../dist/all.js'
import * as fabrics from '../dist/fabrics/index.js'
import * as spec from '../dist/index.js'
import * as pci from '../dist/pci/index.js'
import { registers } from '../dist/registers.js'
import * as vfioUser from '../dist/vfio-user/index.js'

export const packageRoot = join(import.meta.dirname, '..')

/**
 * @typedef {import('../dist/layout/index.js').BitsMap} BitsMap
 * @typedef {import('../dist/layout/index.js').AnyStruct} AnyStruct
 * @typedef {import('../dist/layout/index.js').Field<any>} Field
 * @typedef {import('../dist/layout/index.js').Facts} Facts
 * @typedef {import('../dist/status.js').StatusTable} StatusTable
 * @typedef {{ exportName: string, file: string }} Place where a declaration is; the path is relative to the package
 */

/** Returns all structures, including nested ones; nested structures precede those that contain them. */
function withNested(/** @type {readonly AnyStruct[]} */ structs) {
  /** @type {Set<AnyStruct>} */
  const seen = new Set()
  const visit = (/** @type {AnyStruct} */ struct) => {
    for (const field of Object.values(struct.fields)) if ('struct' in field) visit(/** @type {any} */ (field).struct)
    seen.add(struct)
  }
  structs.forEach(visit)
  return [...seen]
}

/** @type {Map<unknown, Place>} */
const places = new Map()
/** @type {(Place & { table: StatusTable })[]} */
export const statusTables = []

const read = (/** @type {string} */ file) => readFileSync(join(packageRoot, 'src', file), 'utf8')
/** Chapters: the source files that entry points export from, in that order. */
const chapters = ['', 'pci/', 'vfio-user/', 'fabrics/'].flatMap((folder) =>
  Array.from(read(`${folder}index.ts`).matchAll(/ from '\.\/(.*)\.js'$/gm), ([, name]) => `${folder}${name}.ts`),
)
const rank = (/** @type {string} */ file) => (chapters.includes(file) ? chapters.indexOf(file) : chapters.length)
/** Source files outside layout/, chapters first: path relative to the package, and text. */
export const sources = readdirSync(join(packageRoot, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !/\.(test|test-d|bench)\.ts$/.test(file) && !file.startsWith('layout/'))
  .sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
  .map((file) => ({ file: `src/${file}`, text: read(file) }))
for (const { file, text } of sources) {
  const built = join(packageRoot, file.replace(/^src/, 'dist').replace(/ts$/, 'js'))
  if (!existsSync(built)) throw new Error(`${file} is not built; to build and generate, run: pnpm gen`)
  const module = await import(pathToFileURL(built).href)
  for (const [, exportName = ''] of text.matchAll(/^export const (\w+)/gm)) {
    const value = module[exportName]
    places.set(value, { exportName, file })
    if (isStatusTable(value)) statusTables.push({ exportName, file, table: value })
  }
}

const declared = [spec, pci].map(declarationsIn)
const inFabrics = declarationsIn(fabrics)
const order = [...places.keys()]
/** Sorts items in the order of the sources. @type {<T>(items: readonly T[]) => T[]} */
const inOrder = (items) => items.toSorted((a, b) => order.indexOf(a) - order.indexOf(b))

export const items = {
  registers,
  structs: withNested(inOrder(declared.flatMap(({ structs }) => structs))),
  commands: allCommands,
  features: allFeatures,
  words: inOrder(declared.flatMap(({ words }) => words)),
  codes: inOrder(declared.flatMap(({ codes }) => codes)),
  // In the map but not in the C header: GPU code and the kernel module do not use them.
  vfioUser: inOrder(declarationsIn(vfioUser).structs),
  fabrics: inOrder(inFabrics.structs),
  fabricsWords: inOrder(inFabrics.words),
  fabricsCodes: inOrder(inFabrics.codes),
}

const listed = new Set(/** @type {unknown[]} */ (Object.values(items).flat()))
/** Exported declarations that are in no list, as `name (file)`: they would be neither generated nor tested. */
export const unlisted = Array.from(places)
  .filter(([value]) => isDeclaration(value) && !listed.has(value))
  .map(([, { exportName, file }]) => `${exportName} (${file})`)

/** Returns whether a value is a declaration: only declarations have both a name and a source. */
function isDeclaration(/** @type {any} */ value) {
  return typeof value === 'object' && typeof value?.name === 'string' && typeof value.spec === 'string'
}

/** @type {(value: unknown) => value is StatusTable} */
function isStatusTable(value) {
  const rows = typeof value === 'object' && value !== null ? Object.values(value) : []
  return rows.length > 0 && rows.every((row) => typeof row?.sct === 'number' && typeof row.sc === 'number')
}

/** Returns where an item is declared. The name of its export is also its name in C. */
export function placeOf(/** @type {{ name: string }} */ item) {
  const place = places.get(item)
  if (place === undefined)
    throw new Error(`${item.name} is not an \`export const\` of a file in src: export it by name`)
  return place
}
