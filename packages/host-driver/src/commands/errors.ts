import { formatStatus, GpuNvmeError } from '@gpunvme/nvme-spec'
import { statusOutcome } from '@gpunvme/nvme-spec/engine'
import { DriverError } from '../error.js'
import type { OverdueCommand } from '../queues/queue-pair.js'
import { formatDuration } from '../wait.js'

/** The controller completed a command with an error. */
export class CommandError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_COMMAND'
  readonly category = 'device'
  /** Status Code Type. */
  readonly sct: number
  /** Status Code. */
  readonly sc: number
  /** Do Not Retry. */
  readonly dnr: boolean
  /** Name and codes of the status, without the command: 'Invalid Field in Command (SCT 0h, SC 02h)'. */
  readonly statusText: string
  /** Command Retry Delay, 0 to 3. */
  readonly crd: number
  /** The Error Information log page has more details. */
  readonly more: boolean
  /** Dword 0 of the completion. */
  readonly dw0: number
  /** Time limit of the command, in nanoseconds. @internal */
  readonly timeoutNs: number
  constructor(command: string, sqe: string, status: number, dw0 = 0, timeoutNs = Infinity) {
    const outcome = statusOutcome(status)
    const statusText = formatStatus(outcome)
    super(`${command} failed: ${statusText}`, { facts: [sqe] })
    this.statusText = statusText
    this.sct = outcome.sct
    this.sc = outcome.sc
    this.dnr = outcome.dnr
    this.crd = outcome.crd
    this.more = outcome.more
    this.dw0 = dw0
    this.timeoutNs = timeoutNs
  }
}

/** A command got no completion within its time limit. It may or may not have been executed. */
export class CommandTimeoutError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_COMMAND_TIMEOUT'
  readonly category = 'device'
  /** Identity of the command, for a recovery. */
  readonly overdue: OverdueCommand
  /** Time limit of the command, in nanoseconds. @internal */
  readonly timeoutNs: number
  constructor(
    command: string,
    controller: string,
    sqe: string,
    { waitedNs, timeoutNs }: { readonly waitedNs: number; readonly timeoutNs: number },
    overdue: OverdueCommand,
  ) {
    super(`${command} got no completion in ${formatDuration(waitedNs)} from controller ${controller}`, {
      facts: [sqe],
      next: 'check the events of the recovery; the command may or may not have been executed',
    })
    this.overdue = overdue
    this.timeoutNs = timeoutNs
  }
}

/**
 * The controller or the namespace does not support a command or feature. Nothing was sent.
 * @param command its name in the specification. @param says the field that shows it: 'ONCS.NVMCPYS is 0'.
 */
export function unsupportedCommand(command: string, says: string, next?: string): DriverError {
  const headline = `This controller does not support ${command}`
  return new DriverError('ERR_GPUNVME_UNSUPPORTED_COMMAND', 'infeasible', headline, { facts: [says], next })
}
