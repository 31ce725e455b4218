import { statSync } from 'node:fs'
import { getSystemErrorName } from 'node:util'
import { GpuNvmeError, type ErrorCategory } from '@gpunvme/nvme-spec'
import { DriverError } from '../../error.js'

/** Why a connection ended: `transport.departure`. */
export type VfioUserDeparture = VfioUserLostError | DriverError

/** Next step after a connection has ended. */
const REOPEN = 'check the output of the target, restart it, then open the transport again'

/** Why the connection failed, and the next step. */
interface Advice {
  readonly category: ErrorCategory
  readonly words?: string
  readonly next: string
}

const DENIED: Advice = {
  category: 'privilege',
  words: 'permission denied',
  next: 'run as the user of the target, or give your user write access to the socket and search access to its directories',
}

const OTHER: Advice = { category: 'device', next: 'check that it is the socket of a vfio-user target' }

const CONNECTING: Readonly<Record<string, Advice>> = {
  ENOENT: {
    category: 'not-found',
    words: 'no such file or directory',
    next: 'check the path, or start a target, for example gpunvme sim serve --socket PATH',
  },
  ENOTDIR: { category: 'not-found', words: 'no such directory', next: 'check the path' },
  ENAMETOOLONG: { category: 'usage', words: 'path longer than 107 bytes', next: 'use a shorter path' },
  ECONNREFUSED: {
    category: 'not-found',
    words: 'no process is listening',
    next: 'restart the target, for example gpunvme sim serve --socket PATH: the process that created this socket has ended',
  },
  EACCES: DENIED,
  EPERM: DENIED,
  EAGAIN: {
    category: 'device',
    words: 'too many clients are waiting',
    next: 'end the other waiting clients: the target serves one at a time',
  },
}

/** The system returns the same error for a file that is not a socket and for a socket without a listener. */
function adviceFor(socket: string, errno: string): Advice {
  if (errno === 'ECONNREFUSED' && statSync(socket, { throwIfNoEntry: false })?.isSocket() === false)
    return { category: 'usage', words: 'not a socket', next: 'pass the socket of a vfio-user target' }
  return CONNECTING[errno] ?? OTHER
}

/** The connection to the socket failed. @param errno such as 'ECONNREFUSED'. */
export function connectionFailed(socket: string, errno: string, cause: unknown): DriverError {
  const { category, words, next } = adviceFor(socket, errno)
  const headline = `Cannot connect to ${socket}: ${words === undefined ? errno : `${words} (${errno})`}`
  return new DriverError('ERR_GPUNVME_VFIO_USER_CONNECT', category, headline, { next, cause })
}

/** The target does not respond, or has closed the connection. All registers read all ones from then on. */
export class VfioUserLostError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_VFIO_USER_LOST'
  readonly category = 'device'
  /** `broken`: this process could not receive or send a whole message; see `cause`. */
  readonly reason: 'silent' | 'closed' | 'broken'
  /** @param during the request that was sent. */
  constructor(socket: string, reason: VfioUserLostError['reason'], during: string, limitNs: number, cause?: unknown) {
    const what = {
      silent: `sent no complete answer for ${limitNs / 1e6} ms`,
      closed: 'closed the connection',
      broken: 'was disconnected, since this process lost part of a message,',
    }[reason]
    // The kernel has connected it, but the target has not accepted the connection.
    const busy = reason === 'silent' && during === 'VERSION' ? ': it may be serving another client' : ''
    super(`The target at ${socket} ${what} during ${during}${busy}`, { next: nextAfter(reason, during), cause })
    this.reason = reason
  }
}

function nextAfter(reason: VfioUserLostError['reason'], during: string): string {
  if (reason === 'closed') return REOPEN
  if (reason === 'broken') return 'fix the cause, such as too many open files, then open the transport again'
  if (during === 'VERSION')
    return 'end the other client of the target, if there is one: most targets serve one at a time'
  return `${REOPEN}; if it is only slow, increase answerTimeoutNs`
}

/** The target violated the protocol. The connection has ended. */
export function protocolViolated(socket: string, during: string, problem: string, cause?: unknown): DriverError {
  const headline = `The target at ${socket} violated the vfio-user protocol: ${during}: ${problem}`
  const next = 'check that it is the socket of a vfio-user target, and report the violation to its authors'
  return new DriverError('ERR_GPUNVME_VFIO_USER_PROTOCOL', 'device', headline, { next, cause })
}

/** The target refused a request; it stays connected. @param number errno of Linux. */
export function requestRefused(socket: string, during: string, number: number): DriverError {
  const headline = `The target at ${socket} refused ${during}: ${errnoName(number)}`
  const next = 'check the output of the target'
  return new DriverError('ERR_GPUNVME_VFIO_USER_REFUSED', 'device', headline, { next })
}

/** The target does not present an NVMe controller. */
export function unsuitableFunction(socket: string, problem: string): DriverError {
  const headline = `The target at ${socket} is not an NVMe controller: ${problem}`
  const next = 'pass the socket of an NVMe controller, for example of gpunvme sim serve --socket PATH'
  return new DriverError('ERR_GPUNVME_VFIO_USER_FUNCTION', 'usage', headline, { next })
}

/** Returns the name of a Linux errno, which both ends of a Unix domain socket use; 'unknown' if the target did not say. */
function errnoName(number: number): string {
  if (number === 0 || number > 4095) return number === 0 ? 'unknown' : `errno ${number}`
  return getSystemErrorName(-number)
}
