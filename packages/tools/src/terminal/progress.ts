import type { Output } from './output.js'
import { formatBytes, formatRate } from './units.js'

const REDRAW_MS = 100
const LOG_MS = 3000
const BAR_COLUMNS = 20

/**
 * Shows the progress of a long operation by wall time: a bar if stderr is a terminal, otherwise a line every few
 * seconds, so that logs stay readable and short work leaves none.
 */
export class Progress {
  private readonly output: Output
  private readonly verb: string
  private readonly startMs = performance.now()
  private lastMs: number

  constructor(output: Output, verb: string) {
    this.output = output
    this.verb = verb
    this.lastMs = this.startMs
  }

  /** @param totalBytes undefined if unknown, as for a pipe. */
  update(doneBytes: number, totalBytes: number | undefined): void {
    const nowMs = performance.now()
    const bar = this.output.isRedrawn
    if (nowMs - this.lastMs < (bar ? REDRAW_MS : LOG_MS)) return
    this.lastMs = nowMs
    const text = describe(this.verb, doneBytes, totalBytes, nowMs - this.startMs)
    const drawn = totalBytes === undefined ? '' : `${drawBar(doneBytes / totalBytes)} `
    if (bar) this.output.setStatus(`${drawn}${text}`)
    else this.output.note(text)
  }

  /** Removes the bar from the terminal. */
  end(): void {
    this.output.setStatus('')
  }
}

function describe(verb: string, doneBytes: number, totalBytes: number | undefined, elapsedMs: number): string {
  if (totalBytes === undefined) return `${verb} ${formatBytes(doneBytes)}, ${formatRate(doneBytes, elapsedMs * 1e6)}`
  const percent = Math.floor((doneBytes / totalBytes) * 100)
  const leftSeconds = Math.ceil((elapsedMs / 1000) * (totalBytes / doneBytes - 1))
  const rate = formatRate(doneBytes, elapsedMs * 1e6)
  const left = Number.isFinite(leftSeconds) ? `, ${leftSeconds} s left` : ''
  return `${verb} ${percent} % of ${formatBytes(totalBytes)}, ${rate}${left}`
}

function drawBar(share: number): string {
  const filled = Math.round(Math.min(1, share) * BAR_COLUMNS)
  return `[${'#'.repeat(filled)}${'.'.repeat(BAR_COLUMNS - filled)}]`
}
