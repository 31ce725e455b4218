import { createInterface } from 'node:readline/promises'
import { InterruptedError } from './interrupt.js'
import type { Io } from '../terminal/io.js'
import type { Output } from '../terminal/output.js'

/** Returns whether a question can be shown and answered: stdin and stderr are terminals, and stdout is not JSON. */
export function canAsk({ json, io }: Output): boolean {
  return !json && io.stdin.isTTY === true && io.stderr.isTTY === true
}

/**
 * Asks on the terminal.
 * @returns the trimmed answer; empty at the end of input.
 * @throws InterruptedError for Ctrl-C, which is not a signal while a line is edited; the signal's reason.
 */
export async function ask(
  question: string,
  { stdin: input, stderr: output }: Pick<Io, 'stdin' | 'stderr'>,
  signal?: AbortSignal,
): Promise<string> {
  signal?.throwIfAborted()
  const lines = createInterface({ input, output })
  const stop = new AbortController()
  const abort = () => stop.abort(signal?.reason)
  signal?.addEventListener('abort', abort)
  lines.once('SIGINT', () => stop.abort(new InterruptedError('SIGINT')))
  const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')))
  try {
    return (await Promise.race([lines.question(question, { signal: stop.signal }), ended])).trim()
  } catch (error) {
    stop.signal.throwIfAborted()
    throw error
  } finally {
    signal?.removeEventListener('abort', abort)
    lines.close()
  }
}
