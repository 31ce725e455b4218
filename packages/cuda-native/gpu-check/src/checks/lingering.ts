import { equal, equalBytes, type Check, type Facts } from '../check.js'
import { content } from '../content.js'
import { KIB, MIB, type CheckContext } from '../context.js'
import { onGpu, pinned } from '../gpu-memory.js'
import { expectLingering } from '../lingering-leader.js'
import { bytesOf, pieceOf } from '../memory.js'
import { allSucceeded, transfersOf } from '../plans.js'

const COMMANDS = 16
const BYTES = 4 * KIB
/** Size of copies and fills. */
const SOME_BYTES = 256 * KIB

/** Opens a controller whose leader lingers indefinitely. */
async function lingering(context: CheckContext) {
  const media = content(COMMANDS * BYTES, 12)
  const drive = await context.drive(media, 4 * MIB)
  const engine = context.engine(drive.transport, { lingerNs: Infinity })
  const { controller, namespace } = await context.open(drive, { queueDepth: 16 }, engine)
  const memory = namespace.dma.alloc(COMMANDS * BYTES)
  /** Reads, and checks that the leader still runs afterwards. */
  const lives = async () => {
    bytesOf(memory).fill(0xa5)
    allSucceeded('reads', await namespace.execute(namespace.planReads(transfersOf(COMMANDS, BYTES)), memory))
    equalBytes('reads', bytesOf(memory), media)
    await expectLingering(engine)
  }
  await lives()
  return { controller, lives }
}

/** A driver call while a leader lingers, and a check of its effect. */
interface DriverCall {
  readonly what: string
  readonly title: string
  /** Called before a leader runs. Returns the action, and a check to run after the leader has ended. */
  readonly prepare: (context: CheckContext) => Promise<{ act: () => unknown; afterwards?: () => Promise<unknown> }>
}

/** Checks that a driver call does not wait for a kernel that ends only when its engine is closed. */
function whileLingering({ what, title, prepare }: DriverCall): Check {
  return {
    id: `while-lingering-${what}`,
    title: `While a leader lingers indefinitely, ${title}`,
    // A call that waits for the kernel never returns, and the process is killed.
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

const done = <T>(value: T): Promise<T> => Promise.resolve(value)

const driverCalls: readonly DriverCall[] = [
  {
    ...{ what: 'register', title: 'memory can be registered and unregistered' },
    prepare(context) {
      const region = context.allocate(MIB)
      return done({ act: () => context.cuda.register(region.address, MIB).unregister() })
    },
  },
  {
    ...{ what: 'alloc', title: 'host and GPU memory can be allocated' },
    prepare: (context) =>
      done({
        act() {
          onGpu(context, SOME_BYTES)
          pinned(context, SOME_BYTES)
        },
      }),
  },
  {
    ...{ what: 'free', title: 'memory from earlier allocations can be freed' },
    prepare({ cuda }) {
      const [host, device] = [cuda.allocPinned(SOME_BYTES), cuda.allocDevice(SOME_BYTES)]
      return done({
        act() {
          device.free()
          host.free()
        },
      })
    },
  },
  {
    ...{ what: 'fill', title: 'GPU memory can be filled' },
    prepare(context) {
      const memory = onGpu(context, SOME_BYTES)
      return done({
        act: () => memory.fill(0x5a),
        async afterwards() {
          equalBytes('GPU memory', await memory.read(), new Uint8Array(SOME_BYTES).fill(0x5a))
        },
      })
    },
  },
  {
    ...{ what: 'copy', title: 'data can be copied to GPU memory' },
    prepare(context) {
      const memory = onGpu(context, SOME_BYTES)
      const copies = context.cuda.copyEngine()
      context.later(() => copies.close())
      const from = pinned(context, SOME_BYTES)
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
    ...{ what: 'first-launch', title: 'the first launch of a kernel completes' },
    prepare(context) {
      const { cuda, kernels } = context
      cuda.loadKernels(kernels.kernels)
      const stream = cuda.stream()
      context.later(() => stream.close())
      const memory = onGpu(context, SOME_BYTES)
      return done({
        async act() {
          cuda.launch('gpunvme_pattern_fill', 4, 64, [memory.gpuPointer, BigInt(SOME_BYTES), 1n, 0n], stream)
          await stream.finished(10e9)
        },
        async afterwards() {
          const words = new BigUint64Array((await memory.read()).buffer)
          // The first value of SplitMix64 with seed 1, as printed by its author's program.
          equal('the first word of the pattern', words[0]!.toString(16), '910a2dec89025cc1')
        },
      })
    },
  },
  {
    ...{ what: 'second-engine', title: 'another engine attaches queues, and both engines serve theirs' },
    prepare: (context) =>
      done({
        async act() {
          const { controller } = await lingering(context)
          await controller.close()
        },
      }),
  },
]

/** Driver calls while a kernel runs that does not end by itself. */
export const lingeringChecks: readonly Check[] = driverCalls.map(whileLingering)
