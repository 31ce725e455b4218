import type { Namespace } from '@gpunvme/host-driver'
import type { Plan } from '@gpunvme/nvme-spec/transport'
import { equal, equalBytes, fail, type Check, type Facts } from '../check.js'
import { content } from '../content.js'
import { BLOCK_BYTES, KIB, MIB } from '../context.js'
import { bytesOf, scattered } from '../memory.js'
import { allSucceeded, transfersOf } from '../plans.js'
import { ratio } from '../report.js'

const SIZES = [512, 4 * KIB, 128 * KIB, MIB]
const PAGE_BYTES = 4096
/** Memory for queues, PRP lists and everything else except data. */
const ASIDE_BYTES = 16 * MIB

/** Executes a plan of reads into memory with other content, and compares every byte. */
async function reads(
  namespace: Namespace,
  memory: ReturnType<Namespace['dma']['alloc']>,
  plan: Plan,
  media: Uint8Array,
) {
  const bytes = bytesOf(memory)
  bytes.fill(0xa5)
  const summary = await namespace.execute(plan, memory)
  const what = `${plan.commands} reads of ${plan.blocks[0]! * BLOCK_BYTES} bytes`
  allSucceeded(what, summary)
  const moved = plan.commands * plan.blocks[0]! * BLOCK_BYTES
  equalBytes(what, bytes.subarray(0, moved), media.subarray(0, moved))
  // Memory that belongs to no command is unchanged.
  if (bytes.subarray(moved).some((byte) => byte !== 0xa5)) fail(`${what}: bytes outside the plan changed`)
}

function matrix(depth: number, queues: number): Check {
  const of = queues === 1 ? 'one queue pair' : `each of ${queues} queue pairs`
  return {
    id: `plans-qd${depth}-pairs${queues}`,
    title: `Plans of reads and writes of 512 bytes to 1 MiB, with ${depth} in flight on ${of}: every byte is correct`,
    limitMs: 120_000,
    async run(context) {
      const { planBytes } = context.scale
      const listBytes = depth * queues * PAGE_BYTES
      const media = content(planBytes, 1)
      const drive = await context.drive(media, planBytes + listBytes + ASIDE_BYTES)
      const engine = context.engine(drive.transport)
      const options = { queues, queueDepth: depth, maxTransferBytes: MIB }
      const { controller, namespace } = await context.open(drive, options, engine)
      equal('queue pairs', namespace.queues, queues)
      const memory = namespace.dma.alloc(planBytes)
      const results: Facts[] = []
      for (const bytes of SIZES) {
        const commands = Math.max(1, Math.min(2 * depth * queues, Math.floor(planBytes / bytes)))
        const transfers = transfersOf(commands, bytes)
        await reads(namespace, memory, namespace.planReads(transfers), media)
        const written = content(commands * bytes, 2 + bytes)
        bytesOf(memory).set(written)
        allSucceeded(`${commands} writes`, await namespace.execute(namespace.planWrites(transfers), memory))
        equalBytes(`${commands} writes of ${bytes} bytes`, drive.stored().subarray(0, written.length), written)
        media.set(written)
        results.push({ bytes, commands, inFlightAtMost: Math.min(commands, depth * queues) })
      }
      equalBytes('blocks outside the written range', drive.stored(), media)
      memory.free()
      const { commands, doorbellWrites, staleCompletions } = engine.statistics
      await controller.close()
      equal('stale completions', staleCompletions, 0)
      equal('host errors detected by the controller', await drive.simulator.diagnostics(), [])
      return { results, commands, doorbellWrites, commandsPerDoorbell: ratio(commands, doorbellWrites) }
    },
  }
}

const scatteredMemory: Check = {
  id: 'plans-scattered',
  title: 'Transfers of 1 MiB with memory in runs of one to seven pages put every byte in its place',
  limitMs: 60_000,
  async run(context) {
    const bytes = 4 * MIB
    const media = content(bytes, 3)
    const drive = await context.drive(media, 2 * bytes + ASIDE_BYTES)
    const { controller, namespace } = await context.open(drive, { queueDepth: 8, maxTransferBytes: MIB })
    const memory = namespace.dma.alloc(bytes)
    // Runs of one, two, … seven pages: all odd-numbered runs, followed by all even-numbered ones.
    const runs: number[][] = []
    for (let page = 0, length = 1; page < bytes / PAGE_BYTES; page += length, length = (length % 7) + 1) {
      const rest = Math.min(length, bytes / PAGE_BYTES - page)
      runs.push(Array.from({ length: rest }, (_, index) => page + index))
    }
    const order = runs
      .filter((_, index) => index % 2 === 1)
      .concat(runs.filter((_, index) => index % 2 === 0))
      .flat()
    const pieces = scattered(memory, order, PAGE_BYTES)
    const whole = bytesOf(memory)
    const page = (all: Uint8Array, number: number) => all.subarray(number * PAGE_BYTES, (number + 1) * PAGE_BYTES)
    whole.fill(0xa5)
    // Not page-aligned: each command uses only part of its first and last page.
    const skew = 3 * BLOCK_BYTES
    const blocks = (bytes - PAGE_BYTES) / BLOCK_BYTES
    allSucceeded(
      'reads',
      await namespace.execute(namespace.planReads([{ slba: 0, blocks, offsetBytes: skew }]), pieces),
    )
    const expected = new Uint8Array(bytes).fill(0xa5)
    expected.set(media.subarray(0, blocks * BLOCK_BYTES), skew)
    order.forEach((at, index) => {
      equalBytes(`page ${index} of the memory`, page(whole, at), page(expected, index))
    })
    const written = content(bytes, 4)
    order.forEach((at, index) => page(whole, at).set(page(written, index)))
    const writes = namespace.planWrites([{ slba: 0, blocks: bytes / BLOCK_BYTES, offsetBytes: 0 }])
    allSucceeded('writes', await namespace.execute(writes, pieces))
    equalBytes('content of the drive after the writes', drive.stored(), written)
    memory.free()
    await controller.close()
    equal('host errors detected by the controller', await drive.simulator.diagnostics(), [])
    return { segments: pieces.segments.length, bytes }
  },
}

const severalPlans: Check = {
  id: 'plans-several',
  title: 'Sixteen concurrent plans on two queue pairs each get their own data and outcomes',
  limitMs: 60_000,
  async run(context) {
    const plans = 16
    const commands = 64
    const bytes = 4 * KIB
    const each = commands * bytes
    const media = content(plans * each, 5)
    const drive = await context.drive(media, plans * each + ASIDE_BYTES)
    const { controller, namespace } = await context.open(drive, { queues: 2, queueDepth: 16 })
    const memories = Array.from({ length: plans }, () => namespace.dma.alloc(each))
    for (const memory of memories) bytesOf(memory).fill(0xa5)
    const summaries = await Promise.all(
      memories.map((memory, index) => {
        const firstBlock = (index * each) / BLOCK_BYTES
        return namespace.execute(namespace.planReads(transfersOf(commands, bytes, firstBlock)), memory)
      }),
    )
    summaries.forEach((summary, index) => {
      allSucceeded(`plan ${index}`, summary)
      equalBytes(`plan ${index}`, bytesOf(memories[index]!), media.subarray(index * each, (index + 1) * each))
    })
    for (const memory of memories) memory.free()
    await controller.close()
    equal('host errors detected by the controller', await drive.simulator.diagnostics(), [])
    return { plans, commands: plans * commands }
  },
}

const abort: Check = {
  id: 'plan-aborted',
  title: 'An aborted plan ends with one outcome for each command, and the next plan succeeds',
  limitMs: 60_000,
  async run(context) {
    const commands = 512
    const bytes = 4 * KIB
    const media = content(commands * bytes, 6)
    // Slow enough that most commands are outstanding when the plan is aborted.
    const slow = { rules: [{ match: { opcode: 2 }, action: { kind: 'delay-completion', delayNs: 20e6 } }] } as const
    const drive = await context.drive(media, commands * bytes + ASIDE_BYTES, slow)
    const { controller, namespace } = await context.open(drive, { queueDepth: 8 })
    const memory = namespace.dma.alloc(commands * bytes)
    const whole = bytesOf(memory).fill(0xa5)
    const plan = namespace.planReads(transfersOf(commands, bytes))
    const aborting = new AbortController()
    const ended = namespace.execute(plan, memory, { signal: aborting.signal })
    setTimeout(() => aborting.abort(), 50)
    const { succeeded, failures } = await ended
    equal('outcomes', succeeded + failures.length, commands)
    const kinds = [...new Set(failures.map(({ outcome }) => outcome.kind))]
    equal('kinds of failure', kinds, ['not-submitted'])
    const missing = new Set(failures.map(({ command }) => command))
    equal('distinct commands that failed', missing.size, failures.length)
    for (let command = 0; command < commands; command++) {
      const part = whole.subarray(command * bytes, (command + 1) * bytes)
      const expected = media.subarray(command * bytes, (command + 1) * bytes)
      if (!missing.has(command)) equalBytes(`command ${command}`, part, expected)
      else if (part.some((byte) => byte !== 0xa5)) fail(`command ${command} was not submitted, but its data arrived`)
    }
    const again = await namespace.execute(namespace.planReads(transfersOf(16, bytes)), memory)
    allSucceeded('the next plan', again)
    memory.free()
    await controller.close()
    return { commands, succeeded, notSubmitted: failures.length }
  },
}

/** Plans of reads and writes on the simulated drive. */
export const transferChecks: readonly Check[] = [
  ...[1, 32, 256].flatMap((depth) => [1, 8].map((queues) => matrix(depth, queues))),
  scatteredMemory,
  severalPlans,
  abort,
]
