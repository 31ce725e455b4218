import { CommanderError } from 'commander'
import { setImmediate } from 'node:timers/promises'
import { EXIT } from './command-line/exit-codes.js'
import { listenForInterrupts } from './command-line/interrupt.js'
import { processIo, type Io, type OutputStream } from './terminal/io.js'
import { Output } from './terminal/output.js'
import { createProgram, parse } from './command-line/program.js'
import type { Session } from './command-line/session.js'
import { SECTIONS } from './verbs.js'
import { reportError } from './command-line/report-error.js'

/**
 * Runs one gpunvme command.
 * @param argv arguments after the program's name.
 * @returns the exit code. Errors are reported on stderr, not thrown. No listener, timer or handle remains.
 */
export async function run(argv: readonly string[], io: Io = processIo()): Promise<number> {
  // Before parsing, since parse errors must be reported in the requested form too.
  const output = new Output({ json: own(argv).includes('--json') }, io, argv)
  const listening = outliveClosedPipes(io)
  const interrupts = listenForInterrupts(io, () => {
    output.error('Finishing in-flight I/O (Ctrl-C again to abort)')
  })
  const session: Session = { argv, io, sections: SECTIONS, signal: interrupts.signal, exitCode: EXIT.ok }
  try {
    await parse(await createProgram(session, argv), argv)
    return session.exitCode
  } catch (error) {
    // Help and --version also end by an exception.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
    return reportError(output, error)
  } finally {
    interrupts.stop()
    await listening.stop()
  }
}

/**
 * Ignores closed pipes, as in `gpunvme inspect model | head`: the remaining output has no reader, and the work goes on.
 */
function outliveClosedPipes({ stdout, stderr, exit }: Io): { stop(): Promise<void> } {
  const listener = (stream: OutputStream) => (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return
    // stderr may have failed too; the exit code still reports the failure.
    if (stream === stdout) stderr.write(`Cannot write the result: ${error.message}\n`)
    exit(EXIT.failure)
  }
  const listeners = [stdout, stderr].map((stream) => ({ stream, listener: listener(stream) }))
  for (const { stream, listener } of listeners) stream.on('error', listener)
  return {
    async stop() {
      // Streams emit errors of the last writes after the callbacks of these writes.
      await Promise.all([stdout, stderr].map((stream) => new Promise((resolve) => stream.write('', resolve))))
      await setImmediate()
      for (const { stream, listener } of listeners) stream.off('error', listener)
    },
  }
}

/** Returns the arguments of this program: those after `--` belong to another command. */
function own(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--')
  return end < 0 ? argv : argv.slice(0, end)
}
