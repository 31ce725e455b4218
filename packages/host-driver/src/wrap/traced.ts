import type { ConfigSpace, Interrupts, TraceSink, Transport } from '@gpunvme/nvme-spec/transport'
import { callback } from '../check-options.js'
import { TracedBar, type Tell } from './traced-bar.js'
import { TracedMemory } from './traced-memory.js'
import { TracedQueues } from './traced-queues.js'

/**
 * Wraps a transport and reports to a sink what the host does: register accesses by declared name and field, accesses to
 * configuration space, doorbells with the decoded commands that they submit or completions that they free, interrupts
 * that were waited for, and resets. Tracks and names are those of the simulator's trace, except for `submit` and
 * `complete`, the host's sides of its `fetch` and `post`.
 *
 * Reports only what passes through it: queues created through this wrapper, in memory of its `dma`. It does not see
 * doorbells that a GPU or native code rings, nor those that shadow doorbells replace: their entries are reported with
 * the next visible one. To learn CAP.DSTRD it may read CAP once, if the host never did.
 */
export function traced(transport: Transport, sink: TraceSink): Transport {
  callback('traced: sink', sink)
  const { clock, config, interrupts } = transport
  const tell: Tell = (event) => sink({ timeNs: clock.now(), ...event })
  const dma = new TracedMemory(transport.dma)
  const bar = new TracedBar(transport.bar, new TracedQueues(dma), () => clock.now(), tell)
  return {
    name: transport.name,
    ...(transport.bdf !== undefined && { bdf: transport.bdf }),
    bar,
    dma,
    clock,
    ...(config && { config: tracedConfig(config, tell) }),
    ...(interrupts && { interrupts: tracedInterrupts(interrupts, tell) }),
    can: transport.can,
    ...(transport.movesData === false && { movesData: false }),
    wraps: transport,
    ...(transport.reset && {
      reset(kind: 'function' | 'bus'): Promise<void> {
        tell({ track: 'reset', name: `reset ${kind}` })
        bar.reset()
        return transport.reset!(kind)
      },
    }),
    close: () => transport.close(),
    ...(transport.isClosed && { isClosed: () => transport.isClosed!() }),
  }
}

function tracedConfig(config: ConfigSpace, tell: Tell): ConfigSpace {
  const tellOf = (verb: string, offset: number, widthBytes: number, value: number) =>
    tell({ track: 'config', name: `${verb} ${hex(offset)}`, details: { widthBytes, value: hex(value) } })
  return {
    read(offset, widthBytes) {
      const value = config.read(offset, widthBytes)
      tellOf('read', offset, widthBytes, value)
      return value
    },
    write(offset, widthBytes, value) {
      tellOf('write', offset, widthBytes, value)
      config.write(offset, widthBytes, value)
    },
  }
}

function tracedInterrupts(interrupts: Interrupts, tell: Tell): Interrupts {
  return {
    vectors: interrupts.vectors,
    async wait(vector, untilNs) {
      const ended = await interrupts.wait(vector, untilNs)
      if (ended === 'fired') tell({ track: 'interrupt', name: `vector ${vector}` })
      return ended
    },
  }
}

function hex(value: number): string {
  return `0x${value.toString(16)}`
}
