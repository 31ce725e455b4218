import { GpuNvmeError, type ErrorCategory } from '@gpunvme/nvme-spec/error'
import { stepOf } from '../command-line/step-of.js'
import { formatBytes } from '../terminal/units.js'
import { lbas } from './byte-range.js'
import { ToolsError } from '../command-line/tools-error.js'

/** How far a write came. Lengths count from its beginning. */
export interface WriteState {
  readonly offsetBytes: number
  /** Without a gap, and answered by the drive. */
  readonly writtenBytes: number
  /** Sent, answered or not. */
  readonly begunBytes: number
  readonly blockBytes: number
  /** What is written is on the media. */
  readonly isFlushed: boolean
}

/** A write ended before its end. Says which blocks are new, which may be, and that the others are as before. */
export class WriteStoppedError extends ToolsError {
  readonly code = 'ERR_GPUNVME_WRITE_STOPPED'
  readonly category: ErrorCategory
  readonly state: WriteState
  constructor(cause: unknown, state: WriteState) {
    const { offsetBytes, writtenBytes, begunBytes, blockBytes, isFlushed } = state
    const slba = offsetBytes / blockBytes
    const written = writtenBytes / blockBytes
    const unsure = (begunBytes - writtenBytes) / blockBytes
    const isOurs = cause instanceof GpuNvmeError
    const headline = isOurs ? cause.headline : cause instanceof Error ? cause.message : String(cause)
    const facts = isOurs ? cause.facts : []
    const advice = isOurs ? stepOf(cause) : undefined
    const category = isOurs ? cause.category : 'failure'
    // A drive that failed, and an interrupt, are gone by the next time; what was typed is not.
    const again = category === 'device' || category === 'interrupted' || advice === undefined
    const flushed = isFlushed ? 'and flushed' : 'but not flushed: a loss of power may take them'
    super(`Writing stopped after ${formatBytes(writtenBytes)}: ${headline}`, {
      facts: [
        ...facts,
        written === 0 ? 'no block is known to be written' : `${lbas(slba, written)} are written, ${flushed}`,
        ...(unsure > 0 ? [`${lbas(slba + written, unsure)} may be old, new or some of both`] : []),
        `from LBA 0x${(slba + written + unsure).toString(16)} on nothing was touched`,
      ],
      next: again ? 'the same command again, which writes all of it' : advice,
      cause,
    })
    this.category = category
    this.state = state
  }
}
