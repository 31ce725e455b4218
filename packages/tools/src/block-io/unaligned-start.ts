import { ToolsError } from '../command-line/tools-error.js'
/** A write begins with a whole block: the rest of the first one would be lost. */
export class UnalignedStartError extends ToolsError {
  readonly code = 'ERR_GPUNVME_UNALIGNED_START'
  readonly category = 'usage'
  constructor(offsetBytes: number, blockBytes: number) {
    const before = offsetBytes - (offsetBytes % blockBytes)
    super(`Byte ${offsetBytes} is not the start of a block of ${blockBytes} bytes`, {
      next: `--offset ${before} or --offset ${before + blockBytes}`,
    })
  }
}
