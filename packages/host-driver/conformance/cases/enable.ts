import type { Bar } from '@gpunvme/nvme-spec/transport'
import { NS_PER_MS, SECOND_NS } from '../time.js'
import type { DriverCase } from '../case.js'
import { check, equal, notApplicable } from '../check.js'
import type { TransportChanges, DriverContext } from '../context.js'
import type { Access } from '../watch.js'
import { enableAsAnotherHost, REGISTER, roundTrip, rule, untilReady, withCap } from './support.js'

const { CC, CSTS, AQA, ASQ, ACQ, CRTO } = REGISTER

/** A transport without function reset, so that the driver cannot recover the controller by one. */
const WITHOUT_RESET: TransportChanges = { transport: () => ({ reset: undefined }) as never }

/** CAP.TO in bits 31:24. */
const withTo = (to: number) => (cap: bigint) => (cap & ~0xff00_0000n) | (BigInt(to) << 24n)

/** Returns the values written to CC, each with the value of CSTS that was read last. */
function configurations(accesses: readonly Access[]): { cc: number; csts: number | undefined }[] {
  let csts: number | undefined
  return accesses.flatMap(({ kind, offset, value }) => {
    if (offset === CSTS && kind === 'read') csts = Number(value)
    return offset === CC && kind === 'write' ? [{ cc: Number(value), csts }] : []
  })
}

/** Opens a controller; its first three reads of CSTS return `csts` as RDY. */
async function startsFrom(context: DriverContext, enabled: boolean, csts: number): Promise<void> {
  const device = await context.device()
  let free = () => {}
  if (enabled) {
    free = enableAsAnotherHost(device)
    await untilReady(device, 1)
  }
  device.accesses.length = 0
  let stale = 3
  const { bar } = device.transport
  const slow = {
    lengthBytes: bar.lengthBytes,
    read64: (offset: number) => bar.read64(offset),
    write64: (offset: number, value: bigint) => bar.write64(offset, value),
    write32: (offset: number, value: number) => bar.write32(offset, value),
    read32: (offset: number) => {
      const value = bar.read32(offset)
      if (offset !== CSTS || stale === 0) return value
      stale--
      const told = (value & ~1) | csts
      device.accesses.push({ ...device.accesses.pop()!, value: BigInt(told) })
      return told
    },
  }
  const ctrl = await context.bringUp({ ...device.transport, bar: slow })
  free()
  const written = configurations(device.accesses)
  const on = written.findIndex(({ cc }) => (cc & 1) === 1)
  const off = written.findIndex(({ cc }) => (cc & 1) === 0)
  equal('CSTS.RDY when CC.EN was set to 1', written[on]!.csts! & 1, 0)
  if (enabled) equal('CSTS.RDY when CC.EN was cleared', written[off]!.csts! & 1, 1)
  equal('CSTS of the controller', bar.read32(CSTS) & 3, 1)
  await ctrl.close()
}

/** Enabling a controller (Base 2.1 §3.5.1): every state of CC.EN and CSTS.RDY, and time-outs. */
export const enableCases: readonly DriverCase[] = [
  {
    id: 'start-disabled',
    title: 'A controller with CC.EN = 0 and CSTS.RDY = 0 is configured and enabled',
    spec: 'Base 2.1 §3.5.1; SPDK nvme_ctrlr_ut',
    time: 'any',
    run: (context) => startsFrom(context, false, 0),
  },
  {
    id: 'start-disabling',
    title: 'Does not set CC.EN before CSTS.RDY is 0, if it finds CC.EN = 0 and CSTS.RDY = 1',
    spec: 'Base 2.1 §3.5.1; SPDK nvme_ctrlr_ut',
    time: 'any',
    run: (context) => startsFrom(context, false, 1),
  },
  {
    id: 'start-enabled',
    title: 'Disables a controller that is found enabled, and waits for CSTS.RDY = 0',
    spec: 'Base 2.1 §3.5.1; SPDK nvme_ctrlr_ut',
    time: 'any',
    run: (context) => startsFrom(context, true, 1),
  },
  {
    id: 'start-enabling',
    title: 'Does not clear CC.EN before CSTS.RDY is 1, if it finds CC.EN = 1 and CSTS.RDY = 0',
    spec: 'Base 2.1 §3.5.1; SPDK nvme_ctrlr_ut',
    time: 'any',
    run: (context) => startsFrom(context, true, 0),
  },
  {
    id: 'admin-queues-before-enabling',
    title: 'AQA, ASQ and ACQ are written while the controller is disabled, and CC.CSS, MPS and AMS before CC.EN',
    spec: 'Base 2.1 §3.5.1, Figure 41',
    time: 'any',
    async run(context) {
      const { device } = await context.open()
      const writes = device.writes.map(({ offset, value }) => ({ offset, value: Number(value) }))
      const on = writes.findIndex(({ offset, value }) => offset === CC && (value & 1) === 1)
      const before = writes.slice(0, on)
      for (const offset of [AQA, ASQ, ACQ]) {
        check(
          before.some((write) => write.offset === offset),
          `register ${offset.toString(16)}h is written before CC.EN = 1`,
        )
        check(
          !writes.slice(on).some((write) => write.offset === offset),
          `register ${offset.toString(16)}h is not written afterwards`,
        )
      }
      const fixed = 0x3ff0
      equal(
        'CC.CSS, MPS and AMS before CC.EN = 1',
        before.findLast(({ offset }) => offset === CC)!.value & fixed,
        writes[on]!.value & fixed,
      )
      equal('CC.IOCQES and CC.IOSQES', (writes[on]!.value >>> 16) & 0xff, 0x46)
    },
  },
  {
    id: 'registers-in-halves',
    title: 'Brings up a controller on a transport that splits 64-bit registers, lower half first',
    spec: 'PCIe 1.2 §3.1.2',
    time: 'any',
    async run(context) {
      const written: number[] = []
      const bar = (inner: Bar): Partial<Bar> => ({
        write64(offset, value) {
          written.push(offset, offset + 4)
          inner.write32(offset, Number(value & 0xffff_ffffn))
          inner.write32(offset + 4, Number(value >> 32n))
        },
      })
      await roundTrip(await context.open({}, { bar }), 16)
      equal('halves that were written', written.slice(0, 4), [ASQ, ASQ + 4, ACQ, ACQ + 4])
    },
  },
  {
    id: 'ready-never-rises',
    title: 'Reports a controller whose CSTS.RDY stays 0 as not ready, after the given time-out',
    spec: 'Base 2.1 §3.5.1; SPDK, openvmm',
    time: 'any',
    async run(context) {
      const device = await context.device({
        faults: { rules: [rule({ kind: 'ready-never-rises' }, {})] },
        ...WITHOUT_RESET,
      })
      const open = () => context.bringUp(device.transport, { readyTimeoutNs: 50 * NS_PER_MS })
      await context.expectRejected('open', open, { code: 'ERR_GPUNVME_NOT_READY', says: 'waiting for CSTS.RDY = 1' })
      equal('CC.EN', device.transport.bar.read32(CC) & 1, 0)
    },
  },
  {
    id: 'ready-never-falls',
    title: 'Reports a controller whose CSTS.RDY stays 1 as not ready, without enabling it again',
    spec: 'Base 2.1 §3.5.1; SPDK, openvmm',
    time: 'any',
    losesController: true,
    async run(context) {
      const device = await context.device({
        faults: { rules: [rule({ kind: 'ready-never-falls' }, {})] },
        ...WITHOUT_RESET,
      })
      enableAsAnotherHost(device)
      await untilReady(device, 1)
      device.accesses.length = 0
      const open = () => context.bringUp(device.transport, { readyTimeoutNs: 50 * NS_PER_MS })
      await context.expectRejected('open', open, { code: 'ERR_GPUNVME_NOT_READY', says: 'waiting for CSTS.RDY = 0' })
      equal('CC.EN = 1 written', configurations(device.accesses).filter(({ cc }) => (cc & 1) === 1).length, 0)
    },
  },
  {
    id: 'start-by-function-reset',
    title: 'Resets the function of a controller that cannot be disabled, if the transport supports it',
    spec: 'Base 2.1 §3.7.2; SPDK',
    time: 'any',
    async run(context) {
      const never = rule({ kind: 'ready-never-falls' }, { times: 1 })
      const device = await context.device({ faults: { rules: [never] } })
      if (device.transport.reset === undefined) notApplicable(`${device.transport.name} cannot reset its function`)
      const free = enableAsAnotherHost(device)
      await untilReady(device, 1)
      await roundTrip(await context.open({ readyTimeoutNs: 300 * NS_PER_MS }, undefined, device), 16)
      free()
    },
  },
  {
    id: 'fatal-while-waiting',
    title: 'CSTS.CFS = 1 ends the wait for CSTS.RDY at once',
    spec: 'Base 2.1 §9.5; SPDK waits until the time-out',
    time: 'any',
    // The fault only sets CSTS.CFS: the driver disables a controller that is about to become ready.
    provokesMistakes: true,
    async run(context) {
      // The first write of CC configures the controller, the second enables it.
      const fatal = rule({ kind: 'fatal-status' }, { register: 'CC', access: 'write', nth: 2 })
      const device = await context.device({
        ...WITHOUT_RESET,
        faults: { rules: [fatal] },
        bar: (bar) => ({ read32: (offset) => (offset === CSTS ? bar.read32(offset) & ~1 : bar.read32(offset)) }),
      })
      const startNs = device.transport.clock.now()
      const open = () => context.bringUp(device.transport, { readyTimeoutNs: 25 * SECOND_NS })
      await context.expectRejected('open', open, { code: 'ERR_GPUNVME_NOT_READY', says: 'CFS is set' })
      check(device.transport.clock.now() - startNs < 20 * SECOND_NS, 'the wait ends before the time-out')
    },
  },
  ...(
    [
      ['cap-to', 'Waits for CSTS.RDY as long as CAP.TO states, in units of 500 ms', 3, 0, 1.5],
      ['cap-to-zero', 'Treats CAP.TO = 0 as its shortest time-out', 0, 0, 0.5],
      ['crto-above-cap-to', 'Waits as long as CRTO.CRWMT states if that is above CAP.TO', 3, 7, 3.5],
    ] as const
  ).map(([id, title, to, crwmt, seconds]): DriverCase => {
    // CAP.CRMS.CRWMS is bit 59.
    const ready = (cap: bigint) => (crwmt === 0 ? cap & ~(1n << 59n) : cap | (1n << 59n))
    return {
      id,
      title,
      spec: 'Base 2.1 §3.1.4.1, §3.1.4.21',
      time: 'virtual',
      async run(context) {
        const device = await context.device({
          ...WITHOUT_RESET,
          faults: { rules: [rule({ kind: 'ready-never-rises' }, {})] },
          bar: (bar) => {
            const { read32, read64 } = withCap((cap) => ready(withTo(to)(cap)))(bar)
            return { read64: read64!, read32: (offset) => (offset === CRTO ? crwmt : read32!(offset)) }
          },
        })
        const { clock } = device.transport
        const startNs = clock.now()
        await context.expectRejected('open', () => context.bringUp(device.transport), {
          code: 'ERR_GPUNVME_NOT_READY',
          says: `not ready after ${seconds} s`,
        })
        check(clock.now() - startNs >= seconds * SECOND_NS, `it waits ${seconds} s`)
      },
    }
  }),
]
