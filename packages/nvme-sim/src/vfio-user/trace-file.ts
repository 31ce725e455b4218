import { closeSync, openSync, writeSync } from 'node:fs'
import { jsonlTrace, perfettoTrace, textTrace } from '@gpunvme/nvme-spec/trace'
import type { TraceSink } from '@gpunvme/nvme-spec/transport'

/** Path and format of a server's trace file. */
export interface TraceFileOptions {
  /** Created, or truncated. */
  readonly path: string
  readonly format: 'text' | 'jsonl' | 'perfetto'
}

/** Number of buffered characters before they are written. */
const KEPT_CHARACTERS = 256 * 1024

/** A trace file, written in large pieces by the thread that produces it. Complete after `close`. */
export class TraceFile {
  readonly sink: TraceSink
  private readonly file: number
  private readonly end: () => void
  private kept: string[] = []
  private keptCharacters = 0

  /** @throws system errors of the file. */
  constructor({ path, format }: TraceFileOptions) {
    this.file = openSync(path, 'w')
    const output = (text: string) => this.keep(text)
    if (format === 'perfetto') {
      const trace = perfettoTrace(output, { process: 'NVMe simulator' })
      this.sink = trace
      this.end = () => trace.end()
    } else {
      this.sink = format === 'text' ? textTrace(output) : jsonlTrace(output)
      this.end = () => undefined
    }
  }

  /** Writes buffered text. @throws system errors, such as a full disk. */
  flush(): void {
    if (this.keptCharacters === 0) return
    const bytes = Buffer.from(this.kept.join(''))
    this.kept = []
    this.keptCharacters = 0
    for (let done = 0; done < bytes.length;) done += writeSync(this.file, bytes, done)
  }

  close(): void {
    try {
      this.end()
      this.flush()
    } finally {
      closeSync(this.file)
    }
  }

  private keep(text: string): void {
    this.kept.push(text)
    this.keptCharacters += text.length
    if (this.keptCharacters >= KEPT_CHARACTERS) this.flush()
  }
}
