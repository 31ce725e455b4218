/** Replacement of a piece of a text. */
export interface Edit {
  readonly at: number
  /** Number of characters to remove. */
  readonly removed: number
  readonly text: string
}

/** Lines [first, last) of a text, and their replacement. */
interface LineChange {
  readonly first: number
  readonly last: number
  readonly added: readonly string[]
}

const CONTEXT_LINES = 3

/** @param edits in order, without overlaps. */
export function edited(source: string, edits: readonly Edit[]): string {
  let result = ''
  let at = 0
  for (const edit of edits) {
    result += source.slice(at, edit.at) + edit.text
    at = edit.at + edit.removed
  }
  return result + source.slice(at)
}

/** Returns the edits as a unified diff. */
export function formatDiff(path: string, source: string, edits: readonly Edit[]): string[] {
  const lines = linesOf(source)
  let shift = 0
  const hunks = inHunks(lineChanges(source, edits)).flatMap((changes) => {
    const from = Math.max(0, changes[0]!.first - CONTEXT_LINES)
    const to = Math.min(lines.length, changes.at(-1)!.last + CONTEXT_LINES)
    let at = from
    const body: string[] = []
    const add = (sign: string, from: readonly string[]) => {
      for (const line of from) body.push(`${sign}${line}`)
    }
    for (const { first, last, added } of changes) {
      add(' ', lines.slice(at, first))
      add('-', lines.slice(first, last))
      add('+', added)
      at = last
    }
    add(' ', lines.slice(at, to))
    const grown = changes.reduce((sum, { first, last, added }) => sum + added.length - (last - first), 0)
    const [was, is] = [to - from, to - from + grown]
    const header = `@@ -${range(from, was)} +${range(from + shift, is)} @@`
    shift += grown
    return [header, ...body]
  })
  return [source === '' ? '--- /dev/null' : `--- a/${path}`, `+++ b/${path}`, ...hunks]
}

/** Lines count from 1; an empty range names the line before it. */
function range(from: number, lines: number): string {
  return `${lines === 0 ? from : from + 1},${lines}`
}

function inHunks(changes: readonly LineChange[]): LineChange[][] {
  const hunks: LineChange[][] = []
  for (const change of changes) {
    const before = hunks.at(-1)?.at(-1)
    if (before !== undefined && change.first - before.last <= 2 * CONTEXT_LINES) hunks.at(-1)!.push(change)
    else hunks.push([change])
  }
  return hunks
}

/** Merges edits of the same line. */
function lineChanges(source: string, edits: readonly Edit[]): LineChange[] {
  const groups: { start: number; end: number; edits: Edit[] }[] = []
  for (const edit of edits) {
    const start = source.lastIndexOf('\n', edit.at - 1) + 1
    const isInsertedWhole = edit.removed === 0 && edit.at === start && edit.text.endsWith('\n')
    const end = isInsertedWhole ? start : endOfLine(source, edit.at + Math.max(0, edit.removed - 1))
    const group = groups.at(-1)
    if (group === undefined || start >= group.end) groups.push({ start, end, edits: [edit] })
    else {
      group.edits.push(edit)
      group.end = Math.max(group.end, end)
    }
  }
  return groups.map(({ start, end, edits: each }) => {
    const first = linesOf(source.slice(0, start)).length
    const replaced = edited(
      source.slice(start, end),
      each.map((edit) => ({ ...edit, at: edit.at - start })),
    )
    return unchangedEnds(first, linesOf(source.slice(start, end)), linesOf(replaced))
  })
}

/** Text added after a line leaves that line unchanged. */
function unchangedEnds(first: number, before: readonly string[], after: readonly string[]): LineChange {
  let same = 0
  while (same < before.length && before[same] === after[same]) same++
  return { first: first + same, last: first + before.length, added: after.slice(same) }
}

function endOfLine(source: string, at: number): number {
  const newline = source.indexOf('\n', at)
  return newline === -1 ? source.length : newline + 1
}

function linesOf(text: string): string[] {
  if (text === '') return []
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n')
}
