import { ToolsError } from './tools-error.js'
/** The arguments cannot be meant. Nothing was opened or touched. */
export class UsageError extends ToolsError {
  readonly code = 'ERR_GPUNVME_USAGE'
  readonly category = 'usage'
}
