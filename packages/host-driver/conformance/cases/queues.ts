import type { DriverCase } from '../case.js'
import { allSucceeded, check, equal, notApplicable } from '../check.js'
import type { DriverContext, Opened } from '../context.js'
import { checkData, clearData } from '../data.js'
import { area, readPlan, REGISTER, roundTrip, SEES_ENGINE, store } from './support.js'

/** Executes enough commands to use every ring entry with both phases, and most entries again. */
async function laps(opened: Opened, commands: number, seed = 5): Promise<void> {
  const { ns, lba } = opened
  const blocks = Math.min(commands, 512)
  const memory = await store(opened, blocks, seed)
  const one = readPlan(ns, lba, blocks)
  for (let done = 0; done < commands; done += blocks) {
    clearData(memory)
    allSucceeded('reads', await ns.execute(one, memory))
    checkData(memory, seed)
  }
}

function largestQueue({ device }: Opened): number {
  return Number(device.transport.bar.read64(REGISTER.CAP) & 0xffffn) + 1
}

async function ofDepth(context: DriverContext, entries: number): Promise<void> {
  const opened = await context.open({ queueEntries: entries, queueDepth: entries - 1 })
  if (largestQueue(opened) < entries) notApplicable(`CAP.MQES allows ${largestQueue(opened)} entries`)
  equal('commands in flight', opened.ctrl.queueDepth, entries - 1)
  await laps(opened, 4 * entries + 3)
}

/** Returns QSIZE (0's based) of the created queues. */
function sizesOf({ device }: Opened, command: string): number[] {
  return device.commands.flatMap(({ text }) => {
    const size = /QSIZE=(\d+)/.exec(text)
    return text.startsWith(command) && size !== null ? [Number(size[1])] : []
  })
}

/** Sizes and numbers of queues, including those with which other drivers have failed. */
export const queueCases: readonly DriverCase[] = [
  ...[2, 3, 7, 32, 100].map((entries): DriverCase => ({
    id: `queue-of-${entries}-entries`,
    title: `Wraps queues of ${entries} entries four times, with one command fewer in flight`,
    spec: 'Base 2.1 §3.3.1.2; libnvm #25, BaM',
    time: 'any',
    run: (context) => ofDepth(context, entries),
  })),
  {
    id: 'queue-of-mqes-entries',
    title: 'Wraps queues of the largest size that CAP.MQES allows',
    spec: 'Base 2.1 §3.1.4.1; openvmm max_mqes',
    time: 'any',
    async run(context) {
      const first = await context.open()
      const entries = largestQueue(first)
      await first.ctrl.close()
      const opened = await context.open(
        { queueEntries: entries, queueDepth: Math.min(entries - 1, 4095) },
        {},
        first.device,
      )
      await laps(opened, entries + 64)
    },
  },
  {
    id: 'queue-of-65536-entries',
    title: 'Wraps a queue of 65,536 entries, whose tail has 16 bits',
    spec: 'Base 2.1 §3.3.1.2; BaM limits',
    time: 'virtual',
    needs: { maxQueueEntries: 65_536 },
    async run(context) {
      await laps(await context.open({ queueEntries: 65_536, queueDepth: 512 }), 65_536 + 1024)
    },
  },
  {
    id: 'queue-above-mqes',
    title: 'Requests no more entries than CAP.MQES allows',
    spec: 'Base 2.1 §3.1.4.1; openvmm invalid_mqes',
    time: 'any',
    needs: { maxQueueEntries: 6 },
    async run(context) {
      const opened = await context.open({ queues: 2, queueDepth: 64 })
      check(opened.ctrl.queueDepth <= 5, 'fewer commands are in flight than a queue has entries')
      check(
        sizesOf(opened, 'Create I/O').every((size) => size <= 5),
        'no QSIZE is above CAP.MQES',
      )
      await laps(opened, 40)
    },
  },
  {
    id: 'queues-of-two-entries',
    title: 'Uses a controller whose queues have two entries with one command in flight',
    spec: 'Base 2.1 §3.1.4.1',
    time: 'any',
    needs: { maxQueueEntries: 2 },
    async run(context) {
      const opened = await context.open({ queueDepth: 32 })
      equal('commands in flight', opened.ctrl.queueDepth, 1)
      await laps(opened, 17)
      await opened.ns.flush()
    },
  },
  {
    id: 'sq-larger-than-its-commands',
    title: 'Uses submission queues with far more entries than commands in flight',
    spec: 'Base 2.1 §3.3.1.2; tnvme GrpQueues',
    time: 'any',
    async run(context) {
      const opened = await context.open({ queueEntries: 64, queueDepth: 5 })
      equal('commands in flight', opened.ctrl.queueDepth, 5)
      await laps(opened, 300)
    },
  },
  {
    id: 'several-sqs-on-one-cq',
    title: 'Four submission queues share one completion queue; each completion is credited to its own queue',
    spec: 'Base 2.1 §3.3; SPDK shared_cq',
    time: 'any',
    async run(context) {
      const opened = await context.open({ queues: 4, completionQueues: 1, queueDepth: 6 })
      if (opened.ctrl.queues < 4) notApplicable('the controller allows fewer queues')
      await laps(opened, 600)
    },
  },
  {
    id: 'five-sqs-on-two-cqs',
    title: 'Five submission queues share two completion queues',
    spec: 'Base 2.1 §3.3; tnvme manySQtoCQ',
    time: 'any',
    async run(context) {
      const opened = await context.open({ queues: 5, completionQueues: 2, queueDepth: 7 })
      if (opened.ctrl.queues < 5) notApplicable('the controller allows fewer queues')
      await laps(opened, 600)
    },
  },
  {
    id: 'cq-smaller-than-its-sqs',
    title: 'Never overflows a completion queue that is smaller than the submission queues that share it',
    spec: 'Base 2.1 §3.3.1.2; rocm-xio PR #68',
    time: 'any',
    needs: { maxQueueEntries: 6 },
    async run(context) {
      const opened = await context.open({ queues: 3, completionQueues: 1, queueDepth: 5 })
      check(3 * opened.ctrl.queueDepth < 6, 'fewer commands are in flight than the completion queue has entries')
      await laps(opened, 60)
    },
  },
  {
    id: 'queues-negotiated',
    title: 'Creates no more queues than Number of Queues grants, and runs all plans on them',
    spec: 'Base 2.1 §5.1.25.2.1; SPDK max_qps',
    time: 'any',
    needs: { ioQueuePairs: 3 },
    async run(context) {
      const opened = await context.open({ queues: 16 })
      equal('queues for plans', opened.ctrl.queues, 2)
      equal('submission queues created', sizesOf(opened, 'Create I/O Submission Queue').length, 3)
      await laps(opened, 100)
    },
  },
  {
    id: 'one-io-queue-pair',
    title: 'Plans and single commands share the only I/O queue pair',
    spec: 'Base 2.1 §5.1.25.2.1',
    time: 'any',
    needs: { ioQueuePairs: 1 },
    async run(context) {
      const opened = await context.open({ queues: 4 })
      const { ns } = opened
      equal('queues for plans', opened.ctrl.queues, 1)
      const rounds = [1, 2, 3].map((seed) => roundTrip(opened, 32, seed, opened.lba + 64 * seed))
      await Promise.all([...rounds, ns.flush(), ns.flush()])
    },
  },
  {
    id: 'more-namespaces-than-admin-entries',
    title: 'Wraps the Admin queue while it identifies a controller with 70 namespaces',
    spec: 'openvmm multi_page_admin_queues',
    time: 'any',
    needs: { namespaces: Array.from({ length: 70 }, (_, index) => ({ nsid: index + 1 })) },
    async run(context) {
      const { ctrl } = await context.open()
      equal('namespaces', ctrl.namespaces.length, 70)
      const last = ctrl.namespace(70)
      equal('bytes of the last namespace', (await last.readBytes(0, 512)).length, 512)
    },
  },
  {
    id: 'queue-order',
    title: 'Creates a completion queue before its submission queues, and deletes it after them',
    spec: 'Base 2.1 §3.3.1.1',
    time: 'any',
    async run(context) {
      const { device, ctrl } = await context.open({ queues: 2 })
      await ctrl.close()
      const order = device.commands.flatMap(({ qid, text }) => {
        const queue = /^(Create|Delete) I\/O (Completion|Submission) Queue/.exec(text)
        return qid === 0 && queue !== null ? [`${queue[1]} ${queue[2]}`] : []
      })
      const first = (name: string) => order.indexOf(name)
      const last = (name: string) => order.lastIndexOf(name)
      check(first('Create Completion') === 0 && first('Create Submission') > 0, 'the completion queue is created first')
      check(last('Delete Submission') < first('Delete Completion'), 'submission queues are deleted first')
      const count = (name: string) => order.filter((each) => each === name).length
      equal('deleted submission queues', count('Delete Submission'), count('Create Submission'))
      equal('deleted completion queues', count('Delete Completion'), count('Create Completion'))
    },
  },
  {
    id: 'queues-take-turns',
    title: 'Spreads a plan over all queues',
    spec: 'ours',
    time: 'any',
    ownEngine: SEES_ENGINE,
    async run(context) {
      const opened = await context.open({ queues: 3 })
      await laps(opened, 90)
      const used = new Set(opened.device.commands.filter(({ text }) => text.startsWith('Read')).map(({ qid }) => qid))
      for (let qid = 1; qid <= opened.ctrl.queues; qid++) check(used.has(qid), `queue ${qid} has executed reads`)
    },
  },
  {
    id: 'identifiers-unique',
    title: 'Uses no command identifier that is outstanding on the same queue',
    spec: 'Base 2.1 §4.1.1',
    time: 'any',
    ownEngine: SEES_ENGINE,
    async run(context) {
      const opened = await context.open({ queueDepth: 8 })
      await laps(opened, 400)
      // Fields with the value 0 are not shown.
      const cids = opened.device.commands
        .filter(({ qid }) => qid === 1)
        .map(({ text }) => Number(/ CID=(\w+)/.exec(text)?.[1] ?? 0))
      check(cids.length >= 400, 'at least 400 commands are observed')
      cids.forEach((cid, index) => {
        check(
          !cids.slice(Math.max(0, index - 8), index).includes(cid),
          `identifier ${cid} is not reused while it may be outstanding`,
        )
        check(cid !== 0xffff, 'FFFFh is not used')
      })
    },
  },
]

export const queues = area('queues', queueCases)
