import { statSync } from 'node:fs'
import { getSystemErrorName } from 'node:util'
import { GpuNvmeError } from '@gpunvme/nvme-spec'

/** What a connection ended by: `transport.departure`. */
export type VfioUserDeparture = VfioUserLostError | VfioUserProtocolError

/** What to do about a target that cannot be talked to any more. */
const REOPEN = 'see what the target itself says, start it again, and open the transport again'

/** Why nobody can be connected to, and what to do. */
interface Advice {
  readonly category: 'not-found' | 'privilege' | 'device' | 'usage'
  readonly words?: string
  readonly next: string
}

const DENIED: Advice = {
  category: 'privilege',
  words: 'permission denied',
  next: 'run as the user of the target, or let your user write the socket and search its folders',
}

const OTHER: Advice = { category: 'device', next: 'see that it is the socket of a vfio-user target' }

const CONNECTING: Readonly<Record<string, Advice>> = {
  ENOENT: {
    category: 'not-found',
    words: 'no such file or directory',
    next: 'check the spelling, or start the target, as by: gpunvme sim serve --socket PATH',
  },
  ENOTDIR: { category: 'not-found', words: 'no such directory', next: 'check the spelling' },
  ENAMETOOLONG: { category: 'usage', words: 'the path of a socket has at most 107 bytes', next: 'a shorter path' },
  ECONNREFUSED: {
    category: 'not-found',
    words: 'no process listens there',
    next: 'restart the target, for example gpunvme sim serve --socket PATH: the process that made this socket has ended',
  },
  EACCES: DENIED,
  EPERM: DENIED,
  EAGAIN: {
    category: 'device',
    words: 'too many clients wait for it',
    next: 'end the other clients that wait for the target: it serves one at a time',
  },
}

/** The system says of a file that is no socket what it says of a socket that nobody listens at. */
function adviceFor(socket: string, errno: string): Advice {
  if (errno === 'ECONNREFUSED' && statSync(socket, { throwIfNoEntry: false })?.isSocket() === false)
    return { category: 'usage', words: 'it is no socket', next: 'name the socket of a target' }
  return CONNECTING[errno] ?? OTHER
}

/** Nobody could be connected to by the socket. */
export class VfioUserConnectError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_VFIO_USER_CONNECT'
  readonly category: Advice['category']
  readonly socket: string
  readonly errno: string
  constructor(socket: string, errno: string, cause?: unknown) {
    const { category, words, next } = adviceFor(socket, errno)
    super(`Cannot connect to ${socket}: ${words === undefined ? errno : `${words} (${errno})`}`, { next, cause })
    this.category = category
    this.socket = socket
    this.errno = errno
  }
}

/** The target does not answer any more, or has closed. All registers read as ones from then on. */
export class VfioUserLostError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_VFIO_USER_LOST'
  readonly category = 'device'
  /** `broken`: this process could not take or send all of a message; `cause` says why. */
  readonly reason: 'silent' | 'closed' | 'broken'
  /** @param during what was asked of it. */
  constructor(socket: string, reason: VfioUserLostError['reason'], during: string, limitNs: number, cause?: unknown) {
    const what = {
      silent: `gave no whole answer for ${limitNs / 1e6} ms`,
      closed: 'closed the connection',
      broken: 'is not talked to any more, as a part of a message was lost on this side',
    }[reason]
    // It was connected to by the kernel, and nobody has taken that up.
    const busy = reason === 'silent' && during === 'VERSION' ? ': it may have another client' : ''
    super(`The target at ${socket} ${what}, during ${during}${busy}`, { next: nextAfter(reason, during), cause })
    this.reason = reason
  }
}

function nextAfter(reason: VfioUserLostError['reason'], during: string): string {
  if (reason === 'closed') return REOPEN
  if (reason === 'broken') return 'see the cause, as too many open files, and open the transport again'
  if (during === 'VERSION') return 'end the other client that it serves, if it does: most targets serve one at a time'
  return `${REOPEN}; where it is only slow, with a larger answerTimeoutNs`
}

/** The target sent what the protocol does not have there. It is not talked to any more. */
export class VfioUserProtocolError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_VFIO_USER_PROTOCOL'
  readonly category = 'device'
  constructor(socket: string, during: string, problem: string, cause?: unknown) {
    super(`The target at ${socket} does not keep to vfio-user: ${during}: ${problem}`, {
      next: 'see that the socket is one of vfio-user, and report it to who made the target',
      cause,
    })
  }
}

/** The target speaks another major version. */
export class VfioUserVersionError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_VFIO_USER_VERSION'
  readonly category = 'usage'
  constructor(socket: string, theirs: string, ours: string) {
    super(`The target at ${socket} speaks vfio-user ${theirs}, this client ${ours}`, {
      next: 'use a target of the same major version, and of no later minor one than it was offered',
    })
  }
}

/** The target refused a request; it stays connected. */
export class VfioUserRefusedError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_VFIO_USER_REFUSED'
  readonly category = 'device'
  /** As of Linux: 'EINVAL'. 'unknown' where it did not say. */
  readonly errno: string
  constructor(socket: string, during: string, number: number) {
    const errno = errnoName(number)
    super(`The target at ${socket} refused ${during}: ${errno}`, { next: 'see what the target itself says' })
    this.errno = errno
  }
}

/** What the target presents cannot be driven as an NVMe controller. */
export class VfioUserFunctionError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_VFIO_USER_FUNCTION'
  readonly category = 'usage'
  constructor(socket: string, problem: string) {
    super(`The target at ${socket} is no NVMe controller: ${problem}`, {
      next: 'name the socket of one, as of: gpunvme sim serve --socket PATH',
    })
  }
}

/** There is no room for memory that is shared with the target. */
export class VfioUserMemoryError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_VFIO_USER_MEMORY'
  readonly category = 'infeasible'
  constructor(folder: string, lengthBytes: number, errno: string, cause?: unknown) {
    super(`Cannot have ${lengthBytes} bytes of memory as a file in ${folder}: ${errno}`, {
      next: 'make room there (mount -o remount,size=… of a tmpfs), or name another folder: memoryFolder',
      cause,
    })
  }
}

/** The name of an errno of Linux, which is what all ends of a Unix domain socket have. */
function errnoName(number: number): string {
  if (number === 0 || number > 4095) return number === 0 ? 'unknown' : `errno ${number}`
  return getSystemErrorName(-number)
}
