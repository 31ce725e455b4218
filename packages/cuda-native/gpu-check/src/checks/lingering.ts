import { setTimeout as sleep } from 'node:timers/promises'
import { equal, equalBytes, fail, type Check, type Facts } from '../check.js'
import { content } from '../content.js'
import { KIB, MIB, type CheckContext } from '../context.js'
import { bytesOf, pieceOf } from '../memory.js'
import { allSucceeded, transfersOf } from './transfers.js'

const COMMANDS = 16
const BYTES = 4 * KIB
/** Of what is moved and filled. */
const SOME_BYTES = 256 * KIB

/** A controller whose leader lingers without end. */
async function lingering(context: CheckContext) {
  const media = content(COMMANDS * BYTES, 12)
  const drive = await context.drive(media, 4 * MIB)
  const engine = context.engine(drive.transport, { lingerNs: Infinity })
  const { controller, namespace } = await context.open(drive, { queueDepth: 16 }, engine)
  const memory = namespace.dma.alloc(COMMANDS * BYTES)
  /** Reads, and sees the leader live on after that. */
  const lives = async () => {
    bytesOf(memory).fill(0xa5)
    allSucceeded('reads', await namespace.execute(namespace.planReads(transfersOf(COMMANDS, BYTES)), memory))
    equalBytes('reads', bytesOf(memory), media)
    const before = engine.heartbeat
    for (let waits = 0; engine.heartbeat === before; waits++) {
      if (waits === 2000) fail('the heartbeat stands still: the leader does not linger')
      await sleep(1)
    }
  }
  await lives()
  return { controller, lives }
}

/** What is done, and seen to be done, while a leader lingers. */
interface Deed {
  readonly what: string
  readonly title: string
  /** Before there is a leader. Gives what is done while there is one, and what is looked at when there is none any more. */
  readonly prepare: (context: CheckContext) => Promise<{ act: () => unknown; afterwards?: () => Promise<unknown> }>
}

/** Nothing that the driver is asked for may wait for a kernel that ends when its engine is closed. */
function whileLingering({ what, title, prepare }: Deed): Check {
  return {
    id: `while-lingering-${what}`,
    title: `While a leader lingers without end, ${title}`,
    // A call that waits for the kernel never returns, and the process is ended.
    alone: true,
    limitMs: 15_000,
    async run(context): Promise<Facts> {
      const { act, afterwards } = await prepare(context)
      const { controller, lives } = await lingering(context)
      const startMs = performance.now()
      await act()
      const tookMs = Math.round(performance.now() - startMs)
      await lives()
      await controller.close()
      await afterwards?.()
      return { tookMs }
    },
  }
}

function onGpu(context: CheckContext) {
  const memory = context.cuda.allocDevice(SOME_BYTES)
  context.later(() => memory.free())
  return memory
}

const done = <T>(value: T): Promise<T> => Promise.resolve(value)

const deeds: readonly Deed[] = [
  {
    ...{ what: 'register', title: 'memory is registered, and taken back' },
    prepare(context) {
      const region = context.allocate(MIB)
      return done({ act: () => context.cuda.register(region.address, MIB).unregister() })
    },
  },
  {
    ...{ what: 'alloc', title: 'memory of the host and of the GPU is allocated' },
    prepare: (context) =>
      done({
        act() {
          onGpu(context)
          const pinned = context.cuda.allocPinned(SOME_BYTES)
          context.later(() => pinned.free())
        },
      }),
  },
  {
    ...{ what: 'free', title: 'memory that was allocated before is freed' },
    prepare({ cuda }) {
      const [pinned, device] = [cuda.allocPinned(SOME_BYTES), cuda.allocDevice(SOME_BYTES)]
      return done({
        act() {
          device.free()
          pinned.free()
        },
      })
    },
  },
  {
    ...{ what: 'fill', title: 'GPU memory is filled' },
    prepare(context) {
      const memory = onGpu(context)
      return done({
        act: () => memory.fill(0x5a),
        async afterwards() {
          equalBytes('GPU memory', await memory.read(), new Uint8Array(SOME_BYTES).fill(0x5a))
        },
      })
    },
  },
  {
    ...{ what: 'copy', title: 'bytes are copied to GPU memory' },
    prepare(context) {
      const memory = onGpu(context)
      const copies = context.cuda.copyEngine()
      context.later(() => copies.close())
      const from = context.cuda.allocPinned(SOME_BYTES)
      context.later(() => from.free())
      const bytes = content(SOME_BYTES, 13)
      new Uint8Array(from.buffer).set(bytes)
      const piece = pieceOf(from.buffer, from.address, 0, SOME_BYTES)
      return done({
        act: () => copies.copy(piece, 0, memory, 0, SOME_BYTES),
        async afterwards() {
          equalBytes('GPU memory', await memory.read(), bytes)
        },
      })
    },
  },
  {
    ...{ what: 'first-launch', title: 'a kernel that never ran before runs to its end' },
    prepare(context) {
      const { cuda, kernels } = context
      cuda.loadKernels(kernels.kernels)
      const stream = cuda.stream()
      context.later(() => stream.close())
      const memory = onGpu(context)
      return done({
        async act() {
          cuda.launch('gpunvme_pattern_fill', 4, 64, [memory.gpuPointer, BigInt(SOME_BYTES), 1n, 0n], stream)
          await stream.finished(10e9)
        },
        async afterwards() {
          const words = new BigUint64Array((await memory.read()).buffer)
          // The first of SplitMix64 from 1 on, as its author's program prints it.
          equal('the first word of the pattern', words[0]!.toString(16), '910a2dec89025cc1')
        },
      })
    },
  },
  {
    ...{ what: 'second-engine', title: 'another engine takes its queues, and both serve them' },
    prepare: (context) =>
      done({
        async act() {
          const { controller } = await lingering(context)
          await controller.close()
        },
      }),
  },
]

/** Calls of the driver beside a kernel that does not end by itself. */
export const lingeringChecks: readonly Check[] = deeds.map(whileLingering)
