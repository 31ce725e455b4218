import {
  AsyncEventRequest,
  Compare,
  CreateIoCq,
  CreateIoSq,
  DeleteIoCq,
  DeleteIoSq,
  DoorbellBufferConfig,
  Flush,
  FormatNvm,
  NamespaceManagement,
  Sanitize,
  Verify,
  type Status,
} from '@gpunvme/nvme-spec'
import type { AnyCommand } from '@gpunvme/nvme-spec/layout'
import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import type { CommandQueue, Encodable } from '../commands/command-queue.js'
import { CommandError } from '../commands/errors.js'
import { anything, checkOptions, integer, record, type Checks } from '../check-options.js'
import { checkHolds, checkMemory } from '../memory/check-memory.js'
import { hold, release, type LentMemory } from '../memory/lent-memory.js'
import { adminOptions, type AdminOptions } from '../admin/admin-commands.js'

/** Command declaration of nvme-spec, or one made with its functions. */
export type RawCommand<V> = Encodable<V> & Pick<AnyCommand, 'opcode' | 'set' | 'transfer'>

/** Options of `Management.submitAdmin` and `submitIo`. */
export interface RawOptions extends AdminOptions {
  /** Data of a command that transfers data, described by PRPs. */
  readonly data?: {
    readonly memory: DmaMemory
    /** Default: 0. */
    readonly offsetBytes?: number
    /** Default: to the end of the memory. */
    readonly lengthBytes?: number
  }
}

const bytes = integer(0, Number.MAX_SAFE_INTEGER, 'a whole number of bytes, 0 or more')
const rawOptions: Checks<RawOptions> = {
  data: record({ memory: anything, offsetBytes: bytes, lengthBytes: bytes }),
  ...adminOptions,
}

/** Result of a command that completed, with any status. */
export interface RawResult {
  /** Dword 0 of the completion. */
  readonly dw0: number
  /** Status of the completion. */
  readonly status: Status
}

/** Commands reserved for the driver, which must know all queues, buffers and outstanding requests. */
const driversOwn: ReadonlySet<number> = new Set(
  [CreateIoCq, CreateIoSq, DeleteIoCq, DeleteIoSq, AsyncEventRequest, DoorbellBufferConfig].map(({ opcode }) => opcode),
)

/** Commands that may erase one namespace, or all. */
const erasing: ReadonlySet<number> = new Set([FormatNvm, NamespaceManagement, Sanitize].map(({ opcode }) => opcode))

/** Commands with data to the controller, or without data, that change no blocks. */
const harmless: ReadonlySet<number> = new Set([Flush, Compare, Verify].map(({ opcode }) => opcode))

/**
 * Checks a command for a queue.
 * @throws TypeError for a command of the other queue or reserved for the driver, and for invalid options.
 */
export function checkRaw(
  { name, set, opcode }: RawCommand<never>,
  queue: 'admin' | 'io',
  lent: LentMemory,
  options: RawOptions,
): void {
  checkOptions(queue === 'admin' ? 'submitAdmin' : 'submitIo', options, rawOptions)
  if (options.data !== undefined) checkMemory(options.data.memory, lent)
  if ((set === 'admin') !== (queue === 'admin')) {
    const [expected, other] = queue === 'admin' ? ['Admin', 'submitIo'] : ['I/O', 'submitAdmin']
    throw new TypeError(`command: expected a command of the ${expected} queue, got ${name}; use ${other}()`)
  }
  if (queue === 'admin' && driversOwn.has(opcode)) {
    throw new TypeError(`command: ${name} is reserved for the driver`)
  }
}

export function mayErase({ set, opcode }: RawCommand<never>): boolean {
  return set === 'admin' && erasing.has(opcode)
}

export function mayChangeBlocks({ set, opcode, transfer }: RawCommand<never>): boolean {
  return set !== 'admin' && transfer !== 'controller-to-host' && !harmless.has(opcode)
}

/**
 * Sends a command and returns its result; throws only without a completion.
 * @throws RangeError for data that the command cannot describe, or longer than `maxBytes`; CommandTimeoutError,
 *   DeviceLostError.
 */
export async function sendRaw<V>(
  once: (run: (queue: CommandQueue) => Promise<number>) => Promise<number>,
  command: RawCommand<V>,
  values: V,
  { data: given, timeoutNs }: RawOptions,
  maxBytes: number,
): Promise<RawResult> {
  const data = given && {
    memory: given.memory,
    offsetBytes: given.offsetBytes ?? 0,
    lengthBytes: given.lengthBytes ?? given.memory.lengthBytes - (given.offsetBytes ?? 0),
  }
  if (data !== undefined) {
    checkHolds(command.name, data.memory, data.offsetBytes, data.lengthBytes)
    if (data.lengthBytes < 1 || data.lengthBytes > maxBytes) {
      throw new RangeError(`${command.name}: expected 1 to ${maxBytes} bytes of data, got ${data.lengthBytes}`)
    }
    data.memory.forDevice(data.offsetBytes, data.lengthBytes)
  }
  let status: Status = { sct: 0, sc: 0, dnr: false }
  if (data !== undefined) hold(data.memory)
  try {
    const dw0 = await once(async (queue) => {
      try {
        return await queue.execute(command, values, { data, timeoutNs })
      } catch (error) {
        if (!(error instanceof CommandError)) throw error
        const { sct, sc, dnr, crd, more } = error
        status = { sct, sc, dnr, crd, more }
        return error.dw0
      }
    })
    data?.memory.forHost(data.offsetBytes, data.lengthBytes)
    return { dw0, status }
  } finally {
    if (data !== undefined) release(data.memory)
  }
}
