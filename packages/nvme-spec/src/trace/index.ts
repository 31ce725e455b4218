/**
 * Writers of traces: what happened between host and controller, as text, as JSONL, or for Perfetto. Each is made of a
 * function that takes text, and is a sink that takes events; where the text goes is up to the caller.
 * @module
 */
export { jsonlTrace, parseTraceLine, TraceLineError } from './jsonl.js'
export { perfettoTrace, type PerfettoTrace } from './perfetto.js'
export { recentEvents, type RecentEvents } from './recent.js'
export { formatTraceEvent, textTrace } from './text.js'
