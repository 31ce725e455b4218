import type { EventEmitter } from 'node:events'
import type { Readable, Writable } from 'node:stream'

/** A stream that bytes come from: a pipe, a file or a terminal. */
export type InputStream = Readable & { readonly isTTY?: boolean | undefined }

/** A stream that text and bytes go to. `columns` is the width of a terminal; 0 where its size is unknown. */
export type OutputStream = Writable & { readonly isTTY?: boolean | undefined; readonly columns?: number | undefined }

/**
 * What one run of the command has from its process. Runs take turns: two at once in a process would share the working
 * directory that `fs` resolves paths against, and the sink of traces.
 */
export interface Io {
  readonly stdin: InputStream
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  readonly env: Readonly<Record<string, string | undefined>>
  /** Path of the file that Node runs, for hints that name the command. */
  readonly program: string
  /** Working directory. */
  readonly cwd: string
  /** Emits SIGINT, SIGTERM and SIGHUP. */
  readonly signals: Pick<EventEmitter, 'on' | 'off'>
  /** Ends the process at once. */
  readonly exit: (code: number) => void
}

/** The process's own. The only place that names them: everything else takes an `Io`. */
export function processIo(): Io {
  return {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    program: process.argv[1] ?? '',
    cwd: process.cwd(),
    signals: process,
    exit: (code) => process.exit(code),
  }
}
