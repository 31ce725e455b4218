import { WholeFile } from '../block-io/whole-file.js'
import type { Output } from '../terminal/output.js'
import { fit } from '../terminal/fit.js'
import type { EventWriter } from './write-events.js'

/** Creates a writer of events; `output` receives whole lines. */
type MakeWriter = (output: (text: string) => void) => EventWriter

/** Characters written at once. Buffered text is also written when the program waits. */
const HELD_CHARACTERS = 65_536

/**
 * Writes events to a file that is published when the trace ends, also after a second SIGINT. Since a sink is called
 * during register accesses, errors of the file are thrown by `end` and not by the sink.
 * @throws FileError, UsageError for a file that cannot be created; FileError from `end`.
 */
export function traceToFile(path: string, makeWriter: MakeWriter): EventWriter {
  let held = ''
  let isDue = false
  let hasEnded = false
  let failure: Error | undefined
  const flush = () => {
    const text = held
    held = ''
    if (failure !== undefined || text === '') return
    try {
      file.writeSync(Buffer.from(text))
    } catch (error) {
      failure = error as Error
    }
  }
  const flushWhenIdle = () => {
    if (isDue) return
    isDue = true
    setImmediate(() => {
      isDue = false
      if (!hasEnded) flush()
    }).unref()
  }
  const end = () => {
    if (hasEnded) return
    hasEnded = true
    writer.end()
    flush()
    if (failure === undefined) {
      file.publish()
      return
    }
    file.discard()
    throw failure
  }
  const file = new WholeFile(path, end)
  const writer = makeWriter((text) => {
    held += text
    if (held.length >= HELD_CHARACTERS) flush()
    else flushWhenIdle()
  })
  return { sink: writer.sink, end }
}

/** Writes events between the verb's notes, folded to the terminal's width. */
export function traceToStderr(makeWriter: MakeWriter, output: Output): EventWriter {
  const { noteColumns: columns, isRedrawn, io, invocation } = output
  // The last line of a terminal may be a progress bar, which is redrawn.
  const before = isRedrawn ? '\r\u001b[K' : ''
  return makeWriter((text) => io.stderr.write(`${before}${fold(text, columns, invocation.program)}`))
}

function fold(text: string, columns: number, program: string): string {
  // Lines of JSON must remain readable by programs.
  const lines = text.split('\n').flatMap((line) => (/^[{[\],]/.test(line) ? [line] : fit(line, columns, program)))
  return lines.join('\n')
}
