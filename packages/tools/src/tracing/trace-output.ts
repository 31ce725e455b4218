import { WholeFile } from '../block-io/whole-file.js'
import type { Output } from '../terminal/output.js'
import { wrap } from '../terminal/table.js'
import type { EventWriter } from './write-events.js'

/** Makes a writer of events; `output` takes whole lines. */
type MakeWriter = (output: (text: string) => void) => EventWriter

/** So much is written at once. What is held back goes out when the program waits, too. */
const HELD_CHARACTERS = 65_536

/**
 * Events into a file that takes its place when the trace ends, however the verb has ended: also when a second SIGINT ends
 * the process. A sink is called from the middle of an access to a register: what goes wrong with the file is thrown by
 * `end`, and the verb hears nothing of it.
 * @throws FileError, UsageError for a file that cannot be made; FileError from `end`.
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

/** Events among the narration of the verb, in lines that are folded where the terminal ends. */
export function traceToStderr(makeWriter: MakeWriter, output: Output): EventWriter {
  const { noteColumns: columns, isRedrawn, io } = output
  // What stands on the last line of a terminal is a bar that is about to be drawn again.
  const before = isRedrawn ? '\r\u001b[K' : ''
  return makeWriter((text) => io.stderr.write(`${before}${fold(text, columns)}`))
}

function fold(text: string, columns: number): string {
  if (columns === Infinity) return text
  return text
    .split('\n')
    .flatMap((line) => {
      // Times are set to the right, and stay there.
      const words = line.trimStart()
      const left = ' '.repeat(line.length - words.length)
      const [first = '', ...others] = wrap(words, columns - left.length, ' '.repeat(8))
      return [`${left}${first}`, ...others]
    })
    .join('\n')
}
