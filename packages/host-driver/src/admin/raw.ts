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
import { CommandError, type CommandQueue, type Encodable } from '../commands/command-queue.js'
import { checkPrpFit } from '../memory/prp-fit.js'
import { anything, checkOptions, integer, record, type Checks } from '../check-options.js'
import { checkMemory } from '../memory/check-memory.js'
import { adminOptions, type AdminOptions } from './admin-commands.js'

/** A command that nvme-spec declares, or one declared by its means. */
export type RawCommand<V> = Encodable<V> & Pick<AnyCommand, 'opcode' | 'set' | 'transfer'>

export interface RawOptions extends AdminOptions {
  /** What the command transfers, where it transfers data; described by PRPs. */
  readonly data?: {
    readonly memory: DmaMemory
    /** 0 when not given. */
    readonly offsetBytes?: number
    /** To the end of the memory when not given. */
    readonly lengthBytes?: number
  }
}

const bytes = integer(0, Number.MAX_SAFE_INTEGER, 'a whole number of bytes, 0 or more')
const rawOptions: Checks<RawOptions> = {
  data: record({ memory: anything, offsetBytes: bytes, lengthBytes: bytes }),
  ...adminOptions,
}

/** How a command ended, whatever its status. */
export interface RawResult {
  readonly dw0: number
  readonly status: Status
}

/** These are the driver's own: it would not know of queues, buffers and requests that others made. */
const driversOwn: ReadonlySet<number> = new Set(
  [CreateIoCq, CreateIoSq, DeleteIoCq, DeleteIoSq, AsyncEventRequest, DoorbellBufferConfig].map(({ opcode }) => opcode),
)

/** After these nothing may be left of what was on a namespace, or on all of them. */
const erasing: ReadonlySet<number> = new Set([FormatNvm, NamespaceManagement, Sanitize].map(({ opcode }) => opcode))

/** Of those that transfer data to the controller, or none, these change no blocks. */
const harmless: ReadonlySet<number> = new Set([Flush, Compare, Verify].map(({ opcode }) => opcode))

/** @throws TypeError for a command of another queue, or one that is the driver's own, and for wrong options. */
export function checkRaw({ name, set, opcode }: RawCommand<never>, queue: 'admin' | 'io', options: RawOptions): void {
  checkOptions(queue === 'admin' ? 'submitAdmin' : 'submitIo', options, rawOptions)
  if (options.data !== undefined) checkMemory(options.data.memory)
  if ((set === 'admin') !== (queue === 'admin')) {
    const [expected, other] = queue === 'admin' ? ['Admin', 'submitIo'] : ['I/O', 'submitAdmin']
    throw new TypeError(`command: expected one of the ${expected} queue, got ${name}: ${other} takes it`)
  }
  if (queue === 'admin' && driversOwn.has(opcode)) {
    throw new TypeError(`command: expected one that is not the driver's own, got ${name}`)
  }
}

export function mayErase({ set, opcode }: RawCommand<never>): boolean {
  return set === 'admin' && erasing.has(opcode)
}

export function mayChangeBlocks({ set, opcode, transfer }: RawCommand<never>): boolean {
  return set !== 'admin' && transfer !== 'controller-to-host' && !harmless.has(opcode)
}

/**
 * Sends a command and gives how it ended; only without a completion does it throw.
 * @throws RangeError for data that PRPs cannot describe, or that is longer than `mostBytes`; CommandTimeoutError,
 *   DeviceLostError.
 */
export async function sendRaw<V>(
  once: (run: (queue: CommandQueue) => Promise<number>) => Promise<number>,
  command: RawCommand<V>,
  values: V,
  { data: given, timeoutNs }: RawOptions,
  { pageBytes, mostBytes }: { readonly pageBytes: number; readonly mostBytes: number },
): Promise<RawResult> {
  const data = given && {
    memory: given.memory,
    offsetBytes: given.offsetBytes ?? 0,
    lengthBytes: given.lengthBytes ?? given.memory.lengthBytes - (given.offsetBytes ?? 0),
  }
  if (data !== undefined) {
    checkPrpFit(command.name, data.memory, { ...data, pageBytes })
    if (data.lengthBytes < 1 || data.lengthBytes > mostBytes) {
      throw new RangeError(`${command.name}: expected 1 to ${mostBytes} bytes of data, got ${data.lengthBytes}`)
    }
    data.memory.forDevice(data.offsetBytes, data.lengthBytes)
  }
  let status: Status = { sct: 0, sc: 0, dnr: false }
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
}
