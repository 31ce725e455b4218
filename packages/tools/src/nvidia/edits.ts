/** A piece of a text that is replaced. */
export interface Edit {
  readonly at: number
  /** Characters that go. */
  readonly removed: number
  readonly text: string
}

const CONTEXT_LINES = 3

/** @param edits in order, none overlapping another. */
export function edited(source: string, edits: readonly Edit[]): string {
  let result = ''
  let at = 0
  for (const edit of edits) {
    result += source.slice(at, edit.at) + edit.text
    at = edit.at + edit.removed
  }
  return result + source.slice(at)
}

/** The same as a unified diff, by whole lines. */
export function formatDiff(path: string, source: string, edits: readonly Edit[]): string[] {
  const lines = linesOf(source)
  const header = [source === '' ? '--- /dev/null' : `--- a/${path}`, `+++ b/${path}`]
  let shift = 0
  const hunks = hunksOf(source, edits).flatMap(({ first, last, with: added }) => {
    const from = Math.max(0, first - CONTEXT_LINES)
    const to = Math.min(lines.length, last + CONTEXT_LINES)
    const [before, gone, after] = [lines.slice(from, first), lines.slice(first, last), lines.slice(last, to)]
    const [oldLines, newLines] = [to - from, to - from - gone.length + added.length]
    const [oldAt, newAt] = [oldLines === 0 ? 0 : from + 1, newLines === 0 ? 0 : from + shift + 1]
    shift += added.length - gone.length
    return [
      `@@ -${oldAt},${oldLines} +${newAt},${newLines} @@`,
      ...before.map((line) => ` ${line}`),
      ...gone.map((line) => `-${line}`),
      ...added.map((line) => `+${line}`),
      ...after.map((line) => ` ${line}`),
    ]
  })
  return [...header, ...hunks]
}

/** Lines [first, last) and what stands in their place; edits that are near each other are one. */
function hunksOf(source: string, edits: readonly Edit[]) {
  const groups: Edit[][] = []
  for (const edit of edits) {
    const group = groups.at(-1)
    const end = group === undefined ? 0 : group.at(-1)!.at + group.at(-1)!.removed
    const apart = linesOf(source.slice(end, edit.at)).length
    if (group !== undefined && apart <= 2 * CONTEXT_LINES + 1) group.push(edit)
    else groups.push([edit])
  }
  return groups.map((group) => {
    const start = source.lastIndexOf('\n', group[0]!.at - 1) + 1
    const lastEdit = group.at(-1)!
    const lastAt = lastEdit.at + lastEdit.removed
    // Whole lines that are put before a line leave that one as it is.
    const isWhole =
      source[lastAt - 1] === '\n' || (lastEdit.removed === 0 && lastAt === start && lastEdit.text.endsWith('\n'))
    const newline = source.indexOf('\n', lastAt)
    const end = isWhole ? lastAt : newline === -1 ? source.length : newline + 1
    const replaced = edited(
      source.slice(start, end),
      group.map((edit) => ({ ...edit, at: edit.at - start })),
    )
    const first = linesOf(source.slice(0, start)).length
    return { first, last: first + linesOf(source.slice(start, end)).length, with: linesOf(replaced) }
  })
}

function linesOf(text: string): string[] {
  if (text === '') return []
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n')
}
