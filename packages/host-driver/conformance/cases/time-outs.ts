import { SECOND_NS } from '../time.js'
import type { DriverCase } from '../case.js'
import { allSucceeded, check, equal } from '../check.js'
import { checkData } from '../data.js'
import {
  collect,
  KNOWN_LBA,
  readPlan,
  readsOf,
  roundTrip,
  rule,
  store,
  TIMEOUT_OPTIONS,
  withFaults,
  writesOf,
} from './support.js'

const GET_LOG_PAGE = 0x02

/** Time limits of commands, and slow drives that stay within them. */
export const timeOutCases: readonly DriverCase[] = [
  {
    id: 'time-out-exact',
    title: 'Gives a command its full time-out, and reports the time of each recovery step',
    spec: 'openvmm; SPDK time-outs',
    time: 'virtual',
    needs: withFaults(rule({ kind: 'hang' }, { ...readsOf(0), times: 1 })),
    async run(context) {
      const opened = await context.open(TIMEOUT_OPTIONS)
      const { ns, ctrl, device } = opened
      const memory = await store(opened, 1, 3, KNOWN_LBA)
      const events = collect(ctrl.events())
      const startNs = device.transport.clock.now()
      await ns.execute(readPlan(ns, KNOWN_LBA, 1), memory, { timeoutNs: 2 * SECOND_NS })
      await ctrl.close()
      const steps = (await events).filter((event) => event.kind === 'recovery')
      const beganNs = steps[0]!.timeNs - startNs
      check(beganNs >= 2 * SECOND_NS && beganNs < 2.1 * SECOND_NS, `recovery begins after 2 s, got ${beganNs} ns`)
      for (const { timeNs, tookNs } of steps)
        check(tookNs >= 0 && tookNs <= timeNs - startNs, 'each step has a valid duration')
      checkData(memory, 3)
    },
  },
  {
    id: 'time-out-of-the-controller',
    title: 'Applies commandTimeoutNs to reads, writes and plans; timeoutNs of a call or a plan replaces it',
    spec: 'ours',
    time: 'virtual',
    needs: withFaults(rule({ kind: 'hang' }, { ...readsOf(0), nth: 1, every: 2 }), rule({ kind: 'hang' }, writesOf(9))),
    async run(context) {
      const opened = await context.open({ ...TIMEOUT_OPTIONS, commandTimeoutNs: 3 * SECOND_NS })
      const { ns, device } = opened
      const memory = await store(opened, 1, 3, KNOWN_LBA)
      const plan = readPlan(ns, KNOWN_LBA, 1)
      const took = async (action: () => Promise<unknown>) => {
        const startNs = device.transport.clock.now()
        await action()
        return Math.floor((device.transport.clock.now() - startNs) / SECOND_NS)
      }
      const options = { timeoutNs: SECOND_NS }
      equal('seconds of a read', await took(() => ns.read(KNOWN_LBA, 1, memory)), 3)
      equal('seconds of a plan', await took(() => ns.execute(plan, memory)), 3)
      equal('seconds of a read with a limit', await took(() => ns.read(KNOWN_LBA, 1, memory, options)), 1)
      equal('seconds of a plan with a limit', await took(() => ns.execute(plan, memory, options)), 1)
      const write = () => ns.write(KNOWN_LBA + 9, 1, memory)
      equal(
        'seconds of a write',
        await took(() => context.expectRejected('write', write, { code: 'ERR_GPUNVME_TRANSFER' })),
        3,
      )
    },
  },
  {
    id: 'admin-hangs',
    title: 'Reports an Admin command that gets no completion after one time limit and one recovery',
    spec: 'ours',
    time: 'virtual',
    needs: withFaults(rule({ kind: 'hang' }, { qid: 0, opcode: GET_LOG_PAGE, times: 1 })),
    async run(context) {
      const opened = await context.open({ ...TIMEOUT_OPTIONS, commandTimeoutNs: 15 * SECOND_NS })
      const { ctrl, device } = opened
      const startNs = device.transport.clock.now()
      await context.expectRejected('smartLog', () => ctrl.smartLog(), {
        code: 'ERR_GPUNVME_COMMAND_TIMEOUT',
        says: 'in 15 s',
      })
      const tookNs = device.transport.clock.now() - startNs
      const isInTime = tookNs >= 15 * SECOND_NS && tookNs < 15 * SECOND_NS + ctrl.recoveryBoundNs
      check(isInTime, `the command ends after its time limit, in bounded time, got ${tookNs / SECOND_NS} s`)
      equal('Get Log Page commands', device.countOf('Get Log Page', 0), 1)
      await ctrl.smartLog()
      await roundTrip(opened, 16)
    },
  },
  {
    id: 'throttled',
    title: 'Waits for the commands of a drive that becomes slow',
    spec: 'measured on a hot drive',
    time: 'virtual',
    needs: withFaults(rule({ kind: 'throttle', factor: 200, forNs: 2 * SECOND_NS }, { ...readsOf(0), times: 1 })),
    async run(context) {
      const opened = await context.open({ queueDepth: 8, maxTransferBytes: 8192 })
      const { ns, ctrl } = opened
      const memory = await store(opened, 512, 3, KNOWN_LBA)
      allSucceeded('reads', await ns.execute(readPlan(ns, KNOWN_LBA, 512), memory))
      checkData(memory, 3)
      equal('commands given up', ctrl.statistics.timeouts, 0)
    },
  },
]
