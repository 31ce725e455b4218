import { NS_PER_MS } from '../time.js'
import type { DriverCase } from '../case.js'
import { check, equal } from '../check.js'
import { deviceIdentifiedAs } from '../identified.js'
import { enableCases } from './enable.js'
import { area, REGISTER, roundTrip, rule, withCap, withFaults } from './support.js'

const IDENTIFY = 0x06
const SET_FEATURES = 0x09
const CREATE_IO_CQ = 0x05
const CREATE_IO_SQ = 0x01

const { CC } = REGISTER

/** Required sizes of queue entries in Identify Controller: 2^6 and 2^4 bytes. */
const ENTRY_SIZES = 'Base 2.3 §5.2.13.2.1, Figure 328'

/** Refusals and failures of bring-up, and its results. */
export const bringUpCases: readonly DriverCase[] = [
  {
    id: 'start-gone',
    title: 'Writes nothing to a device whose registers read all ones',
    spec: 'PCIe 1.2; openvmm',
    time: 'any',
    losesController: true,
    async run(context) {
      const gone = rule({ kind: 'remove-device' }, { register: 'VS', access: 'read' })
      const device = await context.device({ faults: { rules: [gone] } })
      await context.expectRejected('open', () => context.bringUp(device.transport), { code: 'ERR_GPUNVME_DEVICE_LOST' })
      equal('registers written', device.writes.length, 0)
      equal('bytes kept', device.heldBytes, 0)
    },
  },
  {
    id: 'start-removed',
    title: 'Reports a device that leaves the bus during bring-up as lost',
    spec: 'blktests nvme/050',
    time: 'any',
    losesController: true,
    async run(context) {
      const gone = rule({ kind: 'remove-device' }, { register: 'SQyTDBL', qid: 0, nth: 2 })
      const device = await context.device({ faults: { rules: [gone] } })
      await context.expectRejected('open', () => context.bringUp(device.transport), { code: 'ERR_GPUNVME_DEVICE_LOST' })
    },
  },
  ...(
    [
      ['no-nvm-command-set', 'Admin commands', (cap: bigint) => cap & ~(0xffn << 37n)],
      ['queues-of-one-entry', 'CAP.MQES = 0', (cap: bigint) => cap & ~0xffffn],
      // MPSMIN 12 and MPSMAX 0: no page size is supported.
      ['no-common-page-size', 'largest memory page', (cap: bigint) => (cap & ~(0xffn << 48n)) | (0x0cn << 48n)],
    ] as const
  ).map(([id, says, change]): DriverCase => ({
    id,
    title: `Leaves an unsupported controller as found: ${says}`,
    spec: 'Base 2.1 §3.1.4.1',
    time: 'any',
    async run(context) {
      const device = await context.device({ bar: withCap(change) })
      const open = () => context.bringUp(device.transport)
      await context.expectRejected('open', open, { code: 'ERR_GPUNVME_UNSUPPORTED_CONTROLLER', says })
      equal('registers written', device.writes.length, 0)
    },
  })),
  ...(
    [
      ['of-zeros', 'all zeros', 'ours', (data: Uint8Array) => data.fill(0)],
      ['of-ones', 'all ones', 'ours', (data: Uint8Array) => data.fill(0xff)],
      ['sqes', 'SQES = 0x77', ENTRY_SIZES, (data: Uint8Array) => data.set([0x77], 512)],
      ['cqes', 'CQES = 0x55', ENTRY_SIZES, (data: Uint8Array) => data.set([0x55], 513)],
    ] as const
  ).map(([id, says, spec, change]): DriverCase => ({
    id: `identity-${id}`,
    title: `Rejects a controller by its Identify Controller data (${says}), disables it, and keeps no memory`,
    spec,
    time: 'any',
    async run(context) {
      const device = await deviceIdentifiedAs(context, change)
      await context.expectRejected('open', () => context.bringUp(device.transport), {
        code: 'ERR_GPUNVME_UNSUPPORTED_CONTROLLER',
        says,
      })
      equal('commands', device.commands.length, 1)
      equal('bytes kept', device.heldBytes, 0)
      equal('CC.EN', device.transport.bar.read32(CC) & 1, 0)
    },
  })),
  {
    id: 'start-three-times',
    title: 'Opens a closed controller again, any number of times',
    spec: 'ours',
    time: 'any',
    async run(context) {
      const device = await context.device()
      for (let round = 0; round < 3; round++) {
        const opened = await context.open({ queues: 2 }, undefined, device)
        await roundTrip(opened, 16, round)
        await opened.ctrl.close()
      }
    },
  },
  {
    id: 'no-memory',
    title: 'Fails the bring-up if any allocation fails, and keeps no memory',
    spec: 'openvmm dma_alloc tests',
    time: 'any',
    async run(context) {
      const device = await context.device()
      for (let failing = 1; ; failing++) {
        device.allocations = 0
        device.failingAllocation = failing
        try {
          await (await context.bringUp(device.transport, { queues: 2 })).close()
        } catch (error) {
          // A driver may wrap the error of dma.alloc.
          const { message, cause } = error as Error
          const messages = [message, cause instanceof Error ? cause.message : '']
          check(messages.includes('dma.alloc: no memory is left'), 'the error, or its cause, is that of dma.alloc')
          equal(`bytes kept after allocation ${failing} failed`, device.heldBytes, 0)
          equal('CC.EN', device.transport.bar.read32(CC) & 1, 0)
          continue
        }
        check(failing > 6, `bring-up allocates more than ${failing - 1} times`)
        return
      }
    },
  },
  ...(
    [
      ['identify-controller', 'Identify', { qid: 0, opcode: IDENTIFY, nth: 1 }],
      ['identify-namespace', 'Identify', { qid: 0, opcode: IDENTIFY, nth: 3 }],
      ['number-of-queues', 'Set Features', { qid: 0, opcode: SET_FEATURES, every: 1 }],
      ['create-cq', 'Create I/O Completion Queue', { qid: 0, opcode: CREATE_IO_CQ, nth: 1 }],
      ['create-sq', 'Create I/O Submission Queue', { qid: 0, opcode: CREATE_IO_SQ, nth: 1 }],
      ['create-second-cq', 'Create I/O Completion Queue', { qid: 0, opcode: CREATE_IO_CQ, nth: 2 }],
    ] as const
  ).map(([id, command, match]): DriverCase => ({
    id: `refused-${id}`,
    title: `If the controller rejects ${id.replaceAll('-', ' ')}, reports the status, disables the controller, and frees all memory`,
    spec: 'blktests nvme/039',
    time: 'any',
    needs: withFaults(rule({ kind: 'status', sct: 0, sc: 0x02, dnr: true }, match)),
    async run(context) {
      const device = await context.device()
      const open = () => context.bringUp(device.transport)
      await context.expectRejected('open', open, { code: 'ERR_GPUNVME_COMMAND', says: command })
      equal('bytes kept by bring-up', device.heldBytes, 0)
      equal('CC.EN', device.transport.bar.read32(CC) & 1, 0)
    },
  })),
  {
    id: 'optional-features-refused',
    title: 'Uses a controller that rejects Set Features for optional features',
    spec: 'SPDK err_injection',
    time: 'any',
    needs: withFaults(rule({ kind: 'status', sct: 0, sc: 0x02, dnr: true }, { qid: 0, opcode: SET_FEATURES, nth: 1 })),
    async run(context) {
      await roundTrip(await context.open(), 16)
    },
  },
  {
    id: 'start-hangs',
    title: 'Ends the bring-up in bounded time if an Admin command never completes',
    spec: 'libnvm #25; openvmm admin drop',
    time: 'any',
    needs: withFaults(rule({ kind: 'hang' }, { qid: 0, opcode: IDENTIFY })),
    async run(context) {
      const device = await context.device()
      const open = () => context.bringUp(device.transport, { commandTimeoutNs: 100 * NS_PER_MS })
      await context.expectRejected('open', open, { code: 'ERR_GPUNVME_COMMAND_TIMEOUT', says: 'Identify' })
      equal('bytes kept', device.heldBytes, 0)
    },
  },
  {
    id: 'identity',
    title: 'Reports serial, model and firmware of Identify Controller, without trailing spaces',
    spec: 'Base 2.1 §5.1.13.2.1',
    time: 'any',
    async run(context) {
      const { ctrl, device } = await context.open()
      const raw = ctrl.identity.raw
      const text = (from: number, to: number) =>
        String.fromCharCode(...new Uint8Array(raw.buffer, raw.byteOffset + from, to - from)).trimEnd()
      equal('SN', ctrl.identity.serial, text(4, 24))
      equal('SN', ctrl.identity.serial, device.serial)
      equal('MN', ctrl.identity.model, text(24, 64))
      equal('FR', ctrl.identity.firmware, text(64, 72))
    },
  },
  {
    id: 'one-identify-of-each',
    title: 'Sends no I/O command during bring-up',
    spec: 'Base 2.1 §3.5.1',
    time: 'any',
    async run(context) {
      const device = await context.device()
      await context.openReadOnly(device)
      equal('commands on I/O queues', device.commands.filter(({ qid }) => qid !== 0).length, 0)
      check(device.countOf('Identify', 0) >= 3, 'the controller, the namespace list and each namespace are identified')
    },
  },
]

export const bringUp = area('bring-up', [...enableCases, ...bringUpCases])
