import { describe, expect, it } from 'vitest'
import {
  ADMIN_OPCODE,
  CreateIoCq,
  CreateIoSq,
  DeleteIoCq,
  DeleteIoSq,
  DoorbellBufferConfig,
  KeepAlive,
} from './queues.js'
import { allCommands } from '../all.js'
import { sqeFields } from '../layout/commands.js'
import { zeroBased } from '../layout/rows.js'
import { unwritten } from '../../test/bytes.js'
import { dwordsOf } from '../../test/figures.js'

describe('opcodes', () => {
  // Base 2.1 §5, Figure 141: Combined Opcode and Command.
  const figure141 = `
  00 Delete I/O Submission Queue | 01 Create I/O Submission Queue | 02 Get Log Page
  04 Delete I/O Completion Queue | 05 Create I/O Completion Queue | 06 Identify | 08 Abort | 09 Set Features
  0a Get Features | 0c Asynchronous Event Request | 0d Namespace Management | 10 Firmware Commit
  11 Firmware Image Download | 14 Device Self-test | 15 Namespace Attachment | 18 Keep Alive | 19 Directive Send
  1a Directive Receive | 1c Virtualization Management | 1d NVMe-MI Send | 1e NVMe-MI Receive | 20 Capacity Management
  21 Discovery Information Management | 22 Fabric Zoning Receive | 24 Lockdown | 25 Fabric Zoning Lookup
  28 Clear Exported NVM Resource Configuration | 29 Fabric Zoning Send | 2a Create Exported NVM Subsystem
  2d Manage Exported NVM Subsystem | 31 Manage Exported Namespace | 35 Manage Exported Port
  39 Send Discovery Log Page | 3d Track Send | 3e Track Receive | 41 Migration Send | 42 Migration Receive
  45 Controller Data Queue | 7c Doorbell Buffer Config | 7f Fabrics | 80 Format NVM | 81 Security Send
  82 Security Receive | 84 Sanitize | 85 Load Program | 86 Get LBA Status | 88 Program Activation Management
  89 Memory Range Set Management`
    .split(/[|\n]/)
    .map((row) => row.trim())
    .filter((row) => row !== '')
    .map((row) => [Number.parseInt(row.slice(0, 2), 16), row.slice(3)] as const)

  describe('ADMIN_OPCODE (Base 2.1 §5, Figure 141)', () => {
    it('has the opcodes of the figure, under the names of the figure, and no others', () => {
      const names = figure141.map(([opcode, name]) => [
        name
          .replace(/I\/O Submission Queue/, 'IO SQ')
          .replace(/I\/O Completion Queue/, 'IO CQ')
          .toUpperCase()
          .replace(/[ -]/g, '_'),
        opcode,
      ])
      expect(Object.entries(ADMIN_OPCODE.values)).toEqual(names)
    })

    it.each(allCommands.filter(({ set }) => set === 'admin').map(({ name, opcode }) => [name, opcode] as const))(
      '%s is the command of its opcode',
      (name, opcode) => {
        expect(figure141).toContainEqual([opcode, name])
      },
    )
  })
})

describe('queues', () => {
  describe('commands of I/O queues (Linux 6.1, linux/nvme.h)', () => {
    it('Create I/O Completion Queue: cqid, qsize, cq_flags, irq_vector at bytes 40, 42, 44, 46 (nvme_create_cq)', () => {
      const values = { QID: 0x0102, QSIZE: zeroBased(0x0304), IV: 0x0506 }
      expect(dwordsOf(CreateIoCq, values)).toEqual([0x0303_0102, 0x0506_0000, 0, 0, 0, 0])
      // NVME_QUEUE_PHYS_CONTIG and NVME_CQ_IRQ_ENABLED.
      expect(dwordsOf(CreateIoCq, { PC: 1 })[1]).toBe(1)
      expect(dwordsOf(CreateIoCq, { IEN: 1 })[1]).toBe(2)
    })

    it('Create I/O Submission Queue: sqid, qsize, sq_flags, cqid at bytes 40, 42, 44, 46 (nvme_create_sq)', () => {
      const values = { QID: 0x0102, QSIZE: zeroBased(0x0304), CQID: 0x0506, NVMSETID: 0x0708 }
      expect(dwordsOf(CreateIoSq, values)).toEqual([0x0303_0102, 0x0506_0000, 0x0708, 0, 0, 0])
      // NVME_QUEUE_PHYS_CONTIG, then NVME_SQ_PRIO_URGENT to NVME_SQ_PRIO_LOW.
      expect(dwordsOf(CreateIoSq, { PC: 1 })[1]).toBe(1)
      const { URGENT, HIGH, MEDIUM, LOW } = CreateIoSq.QPRIO
      expect([URGENT, HIGH, MEDIUM, LOW].map((QPRIO) => dwordsOf(CreateIoSq, { QPRIO })[1])).toEqual([0, 2, 4, 6])
    })

    it.each([DeleteIoCq, DeleteIoSq])('$name: qid at byte 40 (nvme_delete_queue)', (command) => {
      expect(dwordsOf(command, { QID: 0x0102 })).toEqual([0x0102, 0, 0, 0, 0, 0])
    })
  })
})

describe('doorbell buffer', () => {
  it('Doorbell Buffer Config has the Shadow Doorbell buffer in PRP1, the EventIdx buffer in PRP2 (Base 2.1 §5.2.5)', () => {
    const data = unwritten(64)
    DoorbellBufferConfig.encode(data, 0, { PRP1: 0x1_0000_2000, PRP2: 0x1_0000_3000 })
    // Linux 6.1, linux/nvme.h, nvme_dbbuf: prp1 at byte 24, prp2 at byte 32.
    expect([data.getUint8(0), data.getBigUint64(24, true), data.getBigUint64(32, true)]).toEqual([
      ...[0x7c, 0x1_0000_2000n, 0x1_0000_3000n],
    ])
  })
})

describe('keep alive', () => {
  it('Keep Alive is opcode 18h, transfers no data and has no command specific field (Base 2.1 §5.1.14)', () => {
    expect(KeepAlive).toMatchObject({ opcode: 0x18, set: 'admin', transfer: 'none' })
    expect(Object.keys(KeepAlive.fields)).toEqual(Object.keys(sqeFields))
  })
})
