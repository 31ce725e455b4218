import type { CommandOutcome } from '@gpunvme/nvme-spec/transport'
import type { DriverCase } from '../case.js'
import { allSucceeded, check, equal, notApplicable } from '../check.js'
import { checkData } from '../data.js'
import {
  collect,
  DISTURBS_ENGINE,
  openLeaving,
  readPlan,
  REGISTER,
  roundTrip,
  store,
  TIMEOUT_NS,
  TIMEOUT_OPTIONS,
} from './support.js'

const kinds = (failures: readonly CommandOutcome[]) => [...new Set(failures.map(({ outcome }) => outcome.kind))]

/** Lost controllers: every command ends, and the driver leaves the device alone. */
export const lossCases: readonly DriverCase[] = [
  {
    id: 'removed-under-load',
    title: 'Ends every command when a device leaves the bus under load, and uses none of its data',
    spec: 'blktests nvme/053; SPDK hot remove',
    time: 'any',
    losesController: true,
    async run(context) {
      const opened = await openLeaving(context, 3, TIMEOUT_OPTIONS)
      const { ns, ctrl, lba } = opened
      const events = collect(ctrl.events())
      const memory = opened.alloc(64 * ns.blockBytes)
      const { commands, succeeded, failures } = await ns.execute(readPlan(ns, lba, 64), memory, {
        timeoutNs: TIMEOUT_NS,
      })
      equal('commands accounted for', succeeded + failures.length, commands)
      check(kinds(failures).includes('device-lost'), 'commands in flight end with device-lost')
      check(
        kinds(failures).every((kind) => ['device-lost', 'not-submitted'].includes(kind)),
        'all other commands are not-submitted',
      )
      equal('the last event', (await events).at(-1)?.kind, 'lost')
      const { recoveries } = ctrl.statistics
      equal('controllers lost', recoveries.lost, 1)
    },
  },
  {
    id: 'lost-is-left-alone',
    title: 'Accesses no register of a lost controller, neither in later calls nor in close()',
    spec: 'openvmm; an access reboots some hosts',
    time: 'any',
    losesController: true,
    async run(context) {
      const { device, ctrl, ns, lba, ...opened } = await openLeaving(context, 3, TIMEOUT_OPTIONS)
      const memory = opened.alloc(64 * ns.blockBytes)
      await ns.execute(readPlan(ns, lba, 64), memory, { timeoutNs: TIMEOUT_NS })
      const accesses = device.accesses.length
      const lost = { code: 'ERR_GPUNVME_DEVICE_LOST', says: 'lost' } as const
      await context.expectRejected('read', () => ns.read(lba, 1, memory), lost)
      await context.expectRejected('write', () => ns.write(lba, 1, memory), lost)
      await context.expectRejected('flush', () => ns.flush(), lost)
      await ctrl.close()
      equal('accesses to registers', device.accesses.length, accesses)
    },
  },
  {
    id: 'lost-keeps-its-memory',
    title: 'Keeps memory that a lost controller may still write to',
    spec: 'ours',
    time: 'any',
    losesController: true,
    async run(context) {
      const { device, ctrl, ns, lba, ...opened } = await openLeaving(context, 3, TIMEOUT_OPTIONS)
      const memory = opened.alloc(64 * ns.blockBytes)
      const held = device.heldBytes
      await ns.execute(readPlan(ns, lba, 64), memory, { timeoutNs: TIMEOUT_NS })
      await ctrl.close()
      memory.free()
      equal('bytes held', device.heldBytes, held)
    },
  },
  {
    id: 'opened-after-removal',
    title: 'Opens and uses another controller after one was lost',
    spec: 'blktests nvme/050',
    time: 'any',
    losesController: true,
    async run(context) {
      const first = await openLeaving(context, 3, TIMEOUT_OPTIONS)
      const memory = first.alloc(64 * first.ns.blockBytes)
      await first.ns.execute(readPlan(first.ns, first.lba, 64), memory, { timeoutNs: TIMEOUT_NS })
      await first.ctrl.close()
      await context.release()
      await roundTrip(await context.open(), 16)
    },
  },
]

/** Removal and reset of an idle device, which the next command detects. */
export const idleCases: readonly DriverCase[] = [
  {
    id: 'idle-removal',
    title: 'The next command detects a device that left the bus while idle',
    spec: 'SPDK hot remove',
    time: 'any',
    ownEngine: DISTURBS_ENGINE,
    losesController: true,
    async run(context) {
      let gone = false
      const opened = await context.open(TIMEOUT_OPTIONS, {
        bar: (bar) => ({
          read32: (offset) => (gone ? 0xffff_ffff : bar.read32(offset)),
          read64: (offset) => (gone ? 0xffff_ffff_ffff_ffffn : bar.read64(offset)),
          write32: (offset, value) => {
            if (!gone) bar.write32(offset, value)
          },
        }),
        transport: () => ({ config: undefined, reset: undefined }) as never,
      })
      const { ns, lba } = opened
      const memory = await store(opened, 8, 1)
      gone = true
      const { failures } = await ns.execute(readPlan(ns, lba, 8), memory, { timeoutNs: TIMEOUT_NS })
      equal('outcomes', kinds(failures), ['device-lost'])
      gone = false
    },
  },
  {
    id: 'reset-between-plans',
    title: 'The next command recovers a function that was reset while idle',
    spec: 'blktests nvme/022',
    time: 'any',
    async run(context) {
      const opened = await context.open(TIMEOUT_OPTIONS)
      const { ns, lba, device } = opened
      if (device.transport.reset === undefined) notApplicable(`${device.transport.name} cannot reset its function`)
      const memory = await store(opened, 32, 8)
      await device.transport.reset('function').catch(() => notApplicable('the function cannot be reset'))
      equal('CSTS.RDY', device.transport.bar.read32(REGISTER.CSTS) & 1, 0)
      allSucceeded('reads', await ns.execute(readPlan(ns, lba, 32), memory, { timeoutNs: TIMEOUT_NS }))
      checkData(memory, 8)
    },
    provokesMistakes: true,
  },
]
