// Generates the sections of statuses in docs/reference/spec-map.md.
import { sources, statusTables } from './items.mjs'
import { cited, link } from './links.mjs'
import { besideHas, besideOf } from './tests.mjs'

/**
 * @typedef {import('./items.mjs').Place} Place
 * @typedef {import('../dist/status.js').StatusTable} StatusTable
 */

/** Writes a section for each Status Code Type of each table. Adds statuses that no test names to `untested`. */
export function writeStatuses(/** @type {string[]} */ untested) {
  let count = 0
  const lines = statusTables.flatMap((place) => {
    const { exportName, file, table } = place
    const statuses = Object.entries(table)
    count += statuses.length
    for (const [name, status] of statuses)
      if (!besideHas(file, status.name)) untested.push(`${exportName}.${name} (${file})`)
    return [...new Set(statuses.map(([, { sct }]) => sct))].flatMap((sct) => [
      ...['', `## ${exportName}, Status Code Type ${sct}h`, ''],
      `Source: ${sourcesOf(place, sct).join('; ')}. File: ${link(file)}. Test: ${link(besideOf(file))}.`,
      ...['', '| item | code | name | returned by | retry |', '|---|---|---|---|---|'],
      ...statuses.filter(([, status]) => status.sct === sct).map(([item, status]) => row(item, status)),
    ])
  })
  return { lines, count }
}

function row(/** @type {string} */ item, /** @type {StatusTable[string]} */ { sc, name, returnedBy, retry }) {
  const code = `${sc.toString(16).toUpperCase().padStart(2, '0')}h`
  return `| \`${item}\` | ${code} | ${name} | ${returnedBy.join(', ')} | ${retry} |`
}

/** Returns the citations in the comments of a type's rows, or, without such comments, in the table's doc comment. */
function sourcesOf(/** @type {Place} */ { exportName, file }, /** @type {number} */ sct) {
  const text = sources.find((source) => source.file === file)?.text ?? ''
  const table = new RegExp(`/\\*\\*((?:(?!\\*/)[^])*)\\*/\\nexport const ${exportName} = ([^]*?)\\n}`)
  const [, doc = '', body = ''] = table.exec(text) ?? []
  const rows = body.split(/(?=\/\/ [^\n]*\(SCT)/).find((part) => part.includes(`(SCT ${sct}h)`))
  const citations = (rows ?? doc.replace(/\s*\n \* /g, ' ')).matchAll(new RegExp(`${cited.source}|Base 2\\.2`, 'g'))
  return Array.from(citations, ([citation]) => citation)
}
