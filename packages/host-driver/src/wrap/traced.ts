import type { ConfigSpace, Interrupts, TraceSink, Transport } from '@gpunvme/nvme-spec/transport'
import { TracedBar, type Tell } from './traced-bar.js'
import { TracedMemory } from './traced-memory.js'
import { TracedQueues } from './traced-queues.js'

/**
 * A transport that does what `transport` does, and tells a sink what the host does with it: each access to a register
 * by its declared name with its fields, each access to configuration space, each doorbell by its queue with the
 * commands that it submits or the completions that it frees, decoded, each interrupt that was waited for, each reset.
 * Tracks and names are those of the simulator's own trace, but for `submit` and `complete`, which are the host's sides
 * of its `fetch` and `post`.
 *
 * It sees what goes through it: queues that were created through this wrapper, in memory of its `dma`. Doorbells that a
 * GPU or native code rings do not pass here, nor do those that a host with shadow doorbells leaves out: their entries
 * are told of with the next one that does. To learn CAP.DSTRD it may read CAP once by itself, where the host never has.
 */
export function traced(transport: Transport, sink: TraceSink): Transport {
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
