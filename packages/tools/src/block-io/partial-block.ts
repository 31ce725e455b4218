import { plural } from '../terminal/units.js'
import { ToolsError } from '../command-line/tools-error.js'

/** A drive writes whole blocks, and nobody has said what belongs into the rest of the last one. */
export class PartialBlockError extends ToolsError {
  readonly code = 'ERR_GPUNVME_PARTIAL_BLOCK'
  readonly category = 'usage'
  constructor(name: string, lastBytes: number, blockBytes: number) {
    super(`${name} ends inside a block: its last one has ${plural(lastBytes, 'byte')} of ${blockBytes}`, {
      next: '--pad zero, which fills it with zeroes; or a --length of whole blocks',
    })
  }
}
