import { IdentifyController } from '@gpunvme/nvme-spec'
import type { DmaAllocator, DmaMemory } from '@gpunvme/nvme-spec/transport'
import type { ControllerEvent } from '../src/events/controller-event.js'
import type { Session } from '../src/bring-up/session.js'
import type { CommandData } from '../src/commands/single-command.js'
import { CommandError } from '../src/commands/errors.js'
import { DmaPool } from '../src/memory/dma-pool.js'

export interface RecordedCommand {
  readonly name: string
  readonly values: Readonly<Record<string, unknown>>
}

/** Creates an allocator of up to `maxBytes` of memory, in discontiguous pieces of at most `pieceBytes`. */
export function piecewiseAllocator(pieceBytes: number, maxBytes: number): DmaAllocator & { readonly inUse: number } {
  let inUse = 0
  let next = 0x1_4000_0000
  return {
    get inUse() {
      return inUse
    },
    alloc(lengthBytes): DmaMemory {
      if (inUse + lengthBytes > maxBytes) throw new RangeError('no memory left')
      inUse += lengthBytes
      const segments = Array.from({ length: Math.ceil(lengthBytes / pieceBytes) }, (_, index) => {
        const offsetBytes = index * pieceBytes
        const segment = { offsetBytes, iova: next, lengthBytes: Math.min(pieceBytes, lengthBytes - offsetBytes) }
        next += 2 * pieceBytes
        return segment
      })
      return {
        lengthBytes,
        view: new DataView(new ArrayBuffer(lengthBytes)),
        segments,
        iovaAt: (offsetBytes) => {
          const found = segments[Math.floor(offsetBytes / pieceBytes)]!
          return found.iova + offsetBytes - found.offsetBytes
        },
        forDevice: () => undefined,
        forHost: () => undefined,
        free: () => void (inUse -= lengthBytes),
      }
    },
  }
}

/**
 * Creates a session for a set-up step. Its controller has the Identify data `identify`, and records commands. `answer`
 * returns DW0, or the negated Status field of an error, and may fill the data.
 */
export function recordedSession(
  identify: Parameters<typeof IdentifyController.create>[0],
  dma: DmaAllocator,
  answer: (command: RecordedCommand, data?: CommandData) => number = () => 0,
) {
  const commands: RecordedCommand[] = []
  const events: ControllerEvent[] = []
  const execute = (
    { name }: { name: string },
    values: RecordedCommand['values'],
    { data }: { data?: CommandData } = {},
  ): Promise<number> => {
    const command = { name, values }
    commands.push(command)
    const dw0 = answer(command, data)
    return dw0 < 0 ? Promise.reject(new CommandError(name, '', -dw0, 0)) : Promise.resolve(dw0)
  }
  const session = {
    identity: { raw: IdentifyController.create(identify).data },
    limits: { pageBytes: 4096 },
    pool: new DmaPool(dma),
    hub: { emit: (event: ControllerEvent) => void events.push(event) },
    transport: { name: 'recorded', clock: { now: () => 0 } },
    admin: { execute },
  } as unknown as Session
  return { session, commands, events }
}
