/**
 * A trace in Chrome's Trace Event Format (JSON array form), read like Perfetto, but rejecting input that Perfetto would
 * guess at. Sources: the document "Trace Event Format" (October 2016), Perfetto's page on other formats, and the
 * behavior of its importer for times (rounded to nanoseconds), thread 0 (replaced by the process ID) and overlapping
 * events.
 */
export interface ReadTrace {
  readonly process: string
  /** Rows of the viewer, in the order of their sort index. */
  readonly rows: readonly { readonly name: string; readonly events: readonly ReadEvent[] }[]
}

export interface ReadEvent {
  readonly name: string
  readonly startNs: number
  /** Undefined for an instant. */
  readonly durationNs: number | undefined
  readonly args: unknown
}

type Json = Readonly<Record<string, unknown>>

/** Parses a trace. @throws Error that names the event if the format does not allow it. */
export function readTraceEvents(text: string): ReadTrace {
  const all = JSON.parse(text) as unknown
  if (!Array.isArray(all)) throw new Error('not the array form')
  let process = ''
  const rows = new Map<unknown, { name?: string; sortIndex?: number; events: ReadEvent[] }>()
  const rowOf = (tid: unknown) => {
    const row = rows.get(tid) ?? { events: [] }
    rows.set(tid, row)
    return row
  }
  for (const event of all as Json[]) {
    const { name, ph, pid, tid, ts, dur, cat, s, args = {}, ...rest } = event
    const check = (holds: boolean, what: string): void => {
      if (!holds) throw new Error(`${what}: ${JSON.stringify(event)}`)
    }
    check(Object.keys(rest).length === 0, 'a key that the format does not have')
    check(typeof name === 'string', 'name')
    check(Number.isInteger(pid) && (pid as number) > 0, 'pid')
    check(Number.isInteger(tid) && (tid as number) >= (name === 'process_name' ? 0 : 1), 'tid')
    check(typeof args === 'object' && args !== null && !Array.isArray(args), 'args')
    if (ph === 'M') {
      const { name: called, sort_index: sortIndex } = args as Json
      if (name === 'process_name') process = called as string
      else if (name === 'thread_name') rowOf(tid).name = called as string
      else if (name === 'thread_sort_index') rowOf(tid).sortIndex = sortIndex as number
      else check(false, 'no metadata of the format')
      continue
    }
    check(typeof cat === 'string', 'cat')
    check(typeof ts === 'number', 'ts')
    check(ph === 'X' ? s === undefined : dur === undefined, 'a key of another phase')
    if (ph === 'X') check(typeof dur === 'number' && dur >= 0, 'dur')
    else check(ph === 'i' && s === 't', 'phase or scope')
    rowOf(tid).events.push({
      name: name as string,
      startNs: Math.round((ts as number) * 1000),
      durationNs: dur === undefined ? undefined : Math.round((dur as number) * 1000),
      args,
    })
  }
  for (const [tid, { name, sortIndex, events }] of rows) {
    if (typeof name !== 'string' || typeof sortIndex !== 'number') throw new Error(`thread ${String(tid)} has no name`)
    refuseOverlaps(name, events)
  }
  const sorted = [...rows.values()].sort((one, other) => one.sortIndex! - other.sortIndex!)
  return { process, rows: sorted.map(({ name, events }) => ({ name: name!, events })) }
}

/** Checks that events of a thread nest: an event that starts inside another must not end after it. */
function refuseOverlaps(row: string, events: readonly ReadEvent[]): void {
  const open: number[] = []
  const spans = events.flatMap(({ startNs, durationNs }) => (durationNs === undefined ? [] : [[startNs, durationNs]]))
  for (const [startNs, durationNs] of spans.sort(([a, x], [b, y]) => a! - b! || y! - x!)) {
    while (open.length > 0 && open.at(-1)! <= startNs!) open.pop()
    if (open.length > 0 && open.at(-1)! < startNs! + durationNs!) throw new Error(`events of ${row} overlap`)
    open.push(startNs! + durationNs!)
  }
}
