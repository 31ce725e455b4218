import { GpuNvmeError } from '@gpunvme/nvme-spec'
import type { Content, Medium, Range, Source } from '@gpunvme/nvme-sim/dst'

/** Codes of errors after which no command was sent. */
const NOT_SENT = ['ERR_GPUNVME_LBA_RANGE', 'ERR_GPUNVME_UNSUPPORTED_COMMAND', 'ERR_GPUNVME_UNSUPPORTED_NAMESPACE']

/** A call that changes blocks without data from the host, and the contents that the blocks may have afterwards. */
export class Change {
  readonly what: string
  private readonly medium: Medium
  /** One range per block, in the order in which the driver changes them. */
  private readonly blocks: readonly Range[]

  constructor(medium: Medium, what: string, ranges: readonly Range[], contentAt: (index: number) => Content | Source) {
    this.medium = medium
    this.what = what
    this.blocks = ranges.flatMap(({ nsid, slba, blocks }) =>
      Array.from({ length: blocks }, (_, index) => ({ nsid, slba: slba + index, blocks: 1 })),
    )
    this.blocks.forEach((block, index) => medium.begin(block, block, () => contentAt(index)))
  }

  /** Records that the whole change was executed. */
  succeeded(isDurable: boolean): void {
    for (const block of this.blocks) this.medium.end(block, block, isDurable)
  }

  /**
   * Records that the call failed; the error may state its progress.
   * @returns a function to call after the next reset: until then, the rest of the change may still be executed.
   */
  failed(error: GpuNvmeError): () => void {
    const { doneBlocks, ranges } = error as Partial<{
      doneBlocks: number
      ranges: readonly { readonly blocks: number }[]
    }>
    if (NOT_SENT.includes(error.code)) {
      for (const block of this.blocks) this.medium.cancel(block, block)
      return () => undefined
    }
    if (doneBlocks !== undefined && ranges !== undefined) {
      const last = doneBlocks + ranges.reduce((sum, { blocks }) => sum + blocks, 0)
      this.blocks.forEach((block, index) => {
        if (index < doneBlocks) this.medium.end(block, block)
        else if (index < last) this.medium.abandon(block, block)
        else this.medium.cancel(block, block)
      })
      return () => undefined
    }
    const leave = () => {
      for (const block of this.blocks) this.medium.abandon(block, block)
    }
    if (!isLoss(error)) {
      leave()
      return () => undefined
    }
    return leave
  }
}

/** Returns whether an error or its cause reports a lost controller, which may still execute commands. */
function isLoss(error: GpuNvmeError): boolean {
  const { cause } = error
  return error.code === 'ERR_GPUNVME_DEVICE_LOST' || (cause instanceof GpuNvmeError && isLoss(cause))
}
