import { describe, expect, it } from 'vitest'
import { dwordsOf } from '../../test/figures.js'
import { NvmeMiReceive, NvmeMiSend } from './nvme-mi.js'

describe('NVMe-MI Send and NVMe-MI Receive (Base 2.1 §5.1.18 and §5.1.19)', () => {
  it.each([
    [NvmeMiSend, 0x1d, 'host-to-controller'],
    [NvmeMiReceive, 0x1e, 'controller-to-host'],
  ] as const)('%# has its opcode and data transfer, and its dwords as they are', (command, opcode, transfer) => {
    expect(command).toMatchObject({ opcode, transfer })
    const values = { CDW10: 10, CDW11: 11, CDW12: 12, CDW13: 13, CDW14: 14, CDW15: 0xffff_ffff }
    expect(dwordsOf(command, values)).toEqual([10, 11, 12, 13, 14, 0xffff_ffff])
  })
})
