import { describe, expect, it } from 'vitest'
import { dwordsOf } from '../../test/figures.js'
import { zeroBased } from '../layout/zero-based.js'
import { CreateIoCq, CreateIoSq, DeleteIoCq, DeleteIoSq } from './queues.js'

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
