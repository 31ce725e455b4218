import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { stepOf } from '../command-line/step-of.js'
import { formatBytes } from '../terminal/units.js'
import { lbas } from './byte-range.js'
import { ToolsError } from '../command-line/tools-error.js'

/** Progress of a write. Lengths count from its start. */
export interface WriteState {
  readonly offsetBytes: number
  /** Contiguous bytes that the drive has acknowledged. */
  readonly writtenBytes: number
  /** Bytes sent, acknowledged or not. */
  readonly begunBytes: number
  readonly blockBytes: number
  /** Whether the written bytes are durable. */
  readonly isFlushed: boolean
}

/** Error of an incomplete write. It states which blocks are new, which may be, and that the others are unchanged. */
export class WriteStoppedError extends ToolsError {
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
    // A failed drive, and an interrupt, may not recur; a usage error would.
    const again = category === 'device' || category === 'interrupted' || advice === undefined
    const flushed = isFlushed ? 'and flushed' : 'but not flushed: a loss of power may discard them'
    super('ERR_GPUNVME_WRITE_STOPPED', category, `Writing stopped after ${formatBytes(writtenBytes)}: ${headline}`, {
      facts: [
        ...facts,
        written === 0 ? 'no block was acknowledged' : `${lbas(slba, written)} are written, ${flushed}`,
        ...(unsure > 0 ? [`${lbas(slba + written, unsure)} may have old or new data, or a mix`] : []),
        `blocks from LBA 0x${(slba + written + unsure).toString(16)} are unchanged`,
      ],
      next: again ? 'repeat the command, which writes everything again' : advice,
      cause,
    })
    this.state = state
  }
}
