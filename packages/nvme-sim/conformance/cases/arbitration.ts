import type { ControllerCase } from '../case.js'
import { check, notApplicable, success } from '../check.js'
import type { Completed } from '../completed.js'
import type { ControllerFacts } from '../facts.js'
import type { CaseHost } from '../host.js'
import { anyRead, needsPairs } from '../io.js'

const ARBITRATION = 0x01
const PC = 1
const [URGENT, HIGH, MEDIUM, LOW] = [0, 1, 2, 3] as const

const needsWeights = (facts: ControllerFacts) =>
  (facts.ams & 1) === 1 ? needsPairs(4)(facts) : 'CAP.AMS: no weighted round robin with urgent priority class'

/** Creates submission queues 1, 2, … with these priorities and sizes, all on completion queue 1. */
async function createSqs(
  host: CaseHost,
  queues: readonly (readonly [priority: number, entries: number])[],
): Promise<void> {
  await host.createCq(1, Math.min(1024, host.registers.maxQueueEntries))
  for (const [index, [priority, entries]] of queues.entries()) {
    const qid = index + 1
    const { memory } = host.addSqRing(qid, entries, 1)
    const cdw = { 10: qid | ((entries - 1) << 16), 11: PC | (priority << 1) | (1 << 16) }
    success(await host.admin({ opcode: 0x01, prp1: memory.iova(), cdw }))
  }
}

/** Fills and rings all queues, and returns the completions in order. */
async function run(host: CaseHost): Promise<Completed[]> {
  const read = anyRead(host)
  let commands = 0
  for (const { qid, entries } of host.sqs.values()) {
    for (let i = 1; qid !== 0 && i < entries; i++, commands++) host.stage(qid, read)
  }
  for (const qid of host.sqs.keys()) if (qid !== 0) host.ringTail(qid)
  const completed = await host.collect(1, commands)
  completed.forEach(success)
  return completed
}

const lastOf = (completed: readonly Completed[], qid: number) => completed.findLastIndex(({ sqid }) => sqid === qid)

/** Base 2.3 §3.4.4. */
export const arbitrationCases: readonly ControllerCase[] = [
  {
    id: 'round-robin-starves-no-queue',
    title: 'A command of one submission queue does not wait until another, full queue is empty',
    spec: 'Base 2.3 §3.4.4.1, §5.2.26.1.1',
    needs: needsPairs(2),
    ringsSimultaneously: true,
    async run(host) {
      await host.start()
      // One command per queue and round, if the controller supports setting it.
      await host.admin({ opcode: 0x09, cdw: { 10: 0x01, 11: 0 } })
      const arbitration = await host.admin({ opcode: 0x0a, cdw: { 10: 0x01 } })
      success(arbitration)
      if ((arbitration.dw0 & 7) === 7)
        notApplicable('Arbitration Burst has no limit: all commands of a queue may be fetched in one turn')
      const entries = Math.min(512, host.registers.maxQueueEntries)
      await host.createCq(1, entries)
      await host.createSq(1, entries, 1)
      await host.createSq(2, 4, 1)
      const read = anyRead(host)
      for (let i = 0; i < entries - 2; i++) host.stage(1, read)
      host.stage(2, read)
      host.ringTail(1)
      host.ringTail(2)
      const completed = await host.collect(1, entries - 1)
      const place = completed.findIndex(({ sqid }) => sqid === 2)
      check(place < entries - 2, `the command of SQ 2 is not the last of ${entries - 1} to complete`)
    },
  },
  {
    id: 'queue-priority-without-weights',
    title: 'The priority of a submission queue is ignored with round robin: every queue is served',
    spec: 'Base 2.3 §5.3.2, §3.4.4.1',
    needs: needsPairs(4),
    async run(host) {
      await host.start()
      await createSqs(host, [
        [URGENT, 9],
        [HIGH, 9],
        [MEDIUM, 9],
        [LOW, 9],
      ])
      for (let round = 0; round < 3; round++) await run(host)
    },
  },
  {
    id: 'weighted-round-robin-serves-all',
    title: 'With weighted round robin, queues of every priority are served',
    spec: 'Base 2.3 §3.4.4.2',
    needs: needsWeights,
    async run(host) {
      await host.start({ cc: host.enabledCc | (1 << 11) })
      await createSqs(host, [
        [LOW, 17],
        [MEDIUM, 17],
        [HIGH, 17],
        [URGENT, 17],
      ])
      for (let round = 0; round < 3; round++) await run(host)
    },
  },
  {
    id: 'urgent-commands-first',
    title: 'Commands of the urgent class start before those of the weighted class',
    spec: 'Base 2.3 §3.4.4.2',
    needs: needsWeights,
    ringsSimultaneously: true,
    async run(host) {
      await host.start({ cc: host.enabledCc | (1 << 11) })
      await createSqs(host, [
        [LOW, 200],
        [URGENT, 50],
      ])
      const completed = await run(host)
      const place = lastOf(completed, 2)
      check(
        place < 150,
        `all 49 urgent commands complete among the first 150 of 248, got number ${place + 1} for the last one`,
      )
    },
  },
  {
    id: 'weights-share-the-controller',
    title: 'Of two equally full queues, the one with the greater weight completes first',
    spec: 'Base 2.3 §3.4.4.2, §5.2.26.1.1',
    needs: needsWeights,
    ringsSimultaneously: true,
    async run(host) {
      await host.start({ cc: host.enabledCc | (1 << 11) })
      // HPW: 8 commands per round, MPW and LPW: one; bursts of one command.
      success(await host.admin({ opcode: 0x09, cdw: { 10: ARBITRATION, 11: 0x0700_0000 } }))
      await createSqs(host, [
        [LOW, 200],
        [HIGH, 200],
      ])
      const completed = await run(host)
      const lowBefore = completed.slice(0, lastOf(completed, 2)).filter(({ sqid }) => sqid === 1).length
      check(
        lowBefore < 100,
        `fewer than 100 of 199 low priority commands complete before the last high priority one, got ${lowBefore}`,
      )
    },
  },
]
