import { decimal, jsonFacts, quoted, wholeTimes } from './format.js'
import type { TraceEvent } from '../transport/index.js'

/** A sink whose output is complete only after `end`. */
export interface PerfettoTrace {
  /**
   * Writes `event`.
   * @throws RangeError or TypeError for a time that is not a number below 2^53, or a duration below 0; TypeError after
   *   `end`.
   */
  (event: TraceEvent): void
  /** Closes the array. Further calls have no effect. */
  end(): void
}

/** Events that overlap must not share a row of the viewer, so a track has as many rows as it needs. */
interface Lane {
  readonly tid: number
  /** Latest end of the events of this lane. */
  endNs: number
}

/** Rows of a track, in order of creation; the first one also takes instants. */
interface Track {
  readonly name: string
  readonly index: number
  readonly lanes: Lane[]
}

// Spaced so that the rows of one track stay together when tracks are sorted.
const LANES_PER_TRACK = 1000

/**
 * Returns a sink that writes the JSON array of Chrome's Trace Event Format, for https://ui.perfetto.dev and
 * chrome://tracing. Each track is a thread. Events with a duration are complete events ('X'), all others are instants
 * ('i'); queue entries and details are arguments. Times are decimals of microseconds with every nanosecond; a viewer that stores them as
 * doubles keeps nanoseconds for 50 days (2^42 µs).
 *
 * The format requires events of one thread to nest, but commands in flight overlap. An event that begins before the
 * others of its row have ended is written to the track's next row: 'sq 1', 'sq 1 (2)', ….
 *
 * A truncated trace opens as well: the closing bracket is optional in the format, and Perfetto skips an incomplete
 * event. Other JSON parsers need `end`.
 * @param output receives text: the beginning at once, then whole events, each with its separator.
 * @param options `process` is the name above all tracks. Default: 'NVMe'.
 */
export function perfettoTrace(output: (text: string) => void, options: { process?: string } = {}): PerfettoTrace {
  const tracks = new Map<string, Track>()
  let lanes = 0
  let ended = false

  const addLane = (track: Track): Lane => {
    // From 1: Perfetto treats thread 0 as missing.
    const lane = { tid: ++lanes, endNs: -Infinity }
    track.lanes.push(lane)
    const row = track.lanes.length
    output(metadata(lane.tid, 'thread_name', `"name":${quoted(row === 1 ? track.name : `${track.name} (${row})`)}`))
    output(metadata(lane.tid, 'thread_sort_index', `"sort_index":${track.index * LANES_PER_TRACK + row}`))
    return lane
  }
  const trackOf = (name: string): Track => {
    let track = tracks.get(name)
    if (track === undefined) {
      track = { name, index: tracks.size, lanes: [] }
      tracks.set(name, track)
      addLane(track)
    }
    return track
  }

  const write = (event: TraceEvent): void => {
    const { timeNs, track: trackName, name, durationNs: givenNs } = event
    if (ended) throw new TypeError('Perfetto trace: event after end()')
    const { startNs, durationNs } = wholeTimes(timeNs, givenNs)
    const track = trackOf(trackName)
    let lane = track.lanes[0]!
    if (durationNs !== undefined) {
      lane = track.lanes.find(({ endNs }) => endNs <= startNs) ?? addLane(track)
      lane.endNs = startNs + durationNs
    }
    const kind = durationNs === undefined ? '"ph":"i","s":"t"' : `"ph":"X","dur":${decimal(durationNs, 3)}`
    const facts = { ...event.command, ...event.completion, ...event.details }
    const args = Object.keys(facts).length === 0 ? '' : `,"args":${jsonFacts(facts)}`
    output(
      `,\n{"name":${quoted(name)},"cat":"nvme",${kind},"ts":${decimal(startNs, 3)},"pid":1,"tid":${lane.tid}${args}}`,
    )
  }

  output(`[\n${metadata(0, 'process_name', `"name":${quoted(options.process ?? 'NVMe')}`).slice(2)}`)
  return Object.assign(write, {
    end: () => {
      if (!ended) output('\n]\n')
      ended = true
    },
  })
}

/** A metadata event, with the separator before it. */
function metadata(tid: number, name: string, args: string): string {
  return `,\n{"name":"${name}","ph":"M","pid":1,"tid":${tid},"args":{${args}}}`
}
