/**
 * Trace writers: format what happens between host and controller as text, JSONL, or for Perfetto. Each writer takes a
 * function that receives text, and returns a sink that receives events. `traceSqe` and `traceCqe` make the queue entries of
 * events, and `CommandPairs` matches them.
 * @module
 */
export { CommandPairs, type CommandEvent, type TracedCommand } from './command-pairs.js'
export { traceCqe, traceSqe } from './entries.js'
export { jsonlTrace, parseTraceLine, TraceLineError } from './jsonl.js'
export { perfettoTrace, type PerfettoTrace } from './perfetto.js'
export { recentEvents, type RecentEvents } from './recent.js'
export { formatTraceEvent, textTrace } from './text.js'
