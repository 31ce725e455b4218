import type { TraceEvent } from '../transport.js'
import { decimal, wholeTimes } from './decimal.js'
import { jsonDetails, quoted } from './escape.js'

/** A sink whose output is whole only when it has been ended. */
export interface PerfettoTrace {
  /**
   * Writes `event`.
   * @throws RangeError or TypeError for a time that is no number below 2^53, or a duration below 0; TypeError after
   *   `end`.
   */
  (event: TraceEvent): void
  /** Closes the array. May be called again, for nothing. */
  end(): void
}

/** Events that overlap must not share a row of the viewer, so that a track has as many rows as it needs. */
interface Lane {
  readonly tid: number
  /** No event of this lane ends later. */
  endNs: number
}

/** A track's rows, in the order in which they came to be needed; the first one takes its instants. */
interface Track {
  readonly name: string
  readonly index: number
  readonly lanes: Lane[]
}

// Far enough apart for the rows of one track to stay together when the tracks are sorted.
const LANES_PER_TRACK = 1000

/**
 * A sink that writes the JSON array of Chrome's Trace Event Format, which https://ui.perfetto.dev and chrome://tracing
 * open: a thread for each track; events with a duration are complete events ('X'), all others instants ('i'); details
 * are arguments. Times are decimals of microseconds with every nanosecond; a viewer that keeps them as doubles has
 * them to the nanosecond for 50 days (2^42 µs).
 *
 * The format wants events of one thread to nest, and commands in flight do not. An event that begins before the
 * others of its row have ended is written to the track's next row: 'sq 1', 'sq 1 (2)', ….
 *
 * A trace that was cut off opens as well: the format makes the closing bracket of its array form optional, and Perfetto
 * leaves away an event that is not whole. Other readers of JSON need `end`.
 * @param output Takes the text: the beginning at once, then whole events, each with what separates it from the one before.
 * @param options `process` is the name above all tracks, 'NVMe' when not given.
 */
export function perfettoTrace(output: (text: string) => void, options: { process?: string } = {}): PerfettoTrace {
  const tracks = new Map<string, Track>()
  let lanes = 0
  let ended = false

  const addLane = (track: Track): Lane => {
    // From 1: Perfetto takes thread 0 for one that was left out.
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

  const write = ({ timeNs, track: trackName, name, durationNs: givenNs, details }: TraceEvent): void => {
    if (ended) throw new TypeError('Perfetto trace: an event came after end()')
    const { startNs, durationNs } = wholeTimes(timeNs, givenNs)
    const track = trackOf(trackName)
    let lane = track.lanes[0]!
    if (durationNs !== undefined) {
      lane = track.lanes.find(({ endNs }) => endNs <= startNs) ?? addLane(track)
      lane.endNs = startNs + durationNs
    }
    const kind = durationNs === undefined ? '"ph":"i","s":"t"' : `"ph":"X","dur":${decimal(durationNs, 3)}`
    const args = details === undefined ? '' : `,"args":${jsonDetails(details)}`
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

/** A metadata event, after what separates it from the event before. */
function metadata(tid: number, name: string, args: string): string {
  return `,\n{"name":"${name}","ph":"M","pid":1,"tid":${tid},"args":{${args}}}`
}
