import { ToolsError } from '../command-line/tools-error.js'
/** Error of a write that starts inside a block, whose beginning would be lost. */
export class UnalignedStartError extends ToolsError {
  readonly code = 'ERR_GPUNVME_UNALIGNED_START'
  readonly category = 'usage'
  constructor(offsetBytes: number, blockBytes: number) {
    const before = offsetBytes - (offsetBytes % blockBytes)
    super(`Byte ${offsetBytes} is not the start of a block of ${blockBytes} bytes`, {
      next: `use --offset ${before} or --offset ${before + blockBytes}`,
    })
  }
}
