import type { EventEmitter } from 'node:events'
import type { Readable, Writable } from 'node:stream'

/** Input of a run: a pipe, a file or a terminal. */
export type InputStream = Readable & { readonly isTTY?: boolean | undefined }

/** Output of a run. `columns` is the width of a terminal; 0 if it is unknown. */
export type OutputStream = Writable & { readonly isTTY?: boolean | undefined; readonly columns?: number | undefined }

/**
 * Streams, environment and signals of one run of the command. Only one run at a time may use a process: two would share the
 * working directory that `fs` resolves paths against, and the sink of traces.
 */
export interface Io {
  readonly stdin: InputStream
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  readonly env: Readonly<Record<string, string | undefined>>
  /** Path of the file that Node runs, from which next steps tell how the command was started. */
  readonly program: string
  /** Whether the process runs as root. */
  readonly isRoot: boolean
  /** Working directory. */
  readonly cwd: string
  /** Emits SIGINT, SIGTERM and SIGHUP. */
  readonly signals: Pick<EventEmitter, 'on' | 'off'>
  /** Ends the process at once. */
  readonly exit: (code: number) => void
}

/** Returns the `Io` of this process. Everything else takes an `Io` instead of using `process` (the linter checks this). */
export function processIo(): Io {
  return {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    program: process.argv[1] ?? '',
    isRoot: process.getuid?.() === 0,
    cwd: process.cwd(),
    signals: process,
    exit: (code) => process.exit(code),
  }
}
