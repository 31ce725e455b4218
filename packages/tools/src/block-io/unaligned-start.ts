import { ToolsError } from '../command-line/tools-error.js'
/** Error of a write that starts inside a block, whose beginning would be lost. */
export function unalignedStartError(offsetBytes: number, blockBytes: number): ToolsError {
  const before = offsetBytes - (offsetBytes % blockBytes)
  return new ToolsError(
    'ERR_GPUNVME_UNALIGNED_START',
    'usage',
    `Byte ${offsetBytes} is not the start of a block of ${blockBytes} bytes`,
    {
      next: `use --offset ${before} or --offset ${before + blockBytes}`,
    },
  )
}
