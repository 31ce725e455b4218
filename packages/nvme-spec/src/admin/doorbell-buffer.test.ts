import { expect, it } from 'vitest'
import { unwritten } from '../../test/bytes.js'
import { DoorbellBufferConfig } from './doorbell-buffer.js'

it('Doorbell Buffer Config has the Shadow Doorbell buffer in PRP1, the EventIdx buffer in PRP2 (Base 2.1 §5.2.5)', () => {
  const data = unwritten(64)
  DoorbellBufferConfig.encode(data, 0, { PRP1: 0x1_0000_2000, PRP2: 0x1_0000_3000 })
  // Linux 6.1, linux/nvme.h, nvme_dbbuf: prp1 at byte 24, prp2 at byte 32.
  expect([data.getUint8(0), data.getBigUint64(24, true), data.getBigUint64(32, true)]).toEqual([
    ...[0x7c, 0x1_0000_2000n, 0x1_0000_3000n],
  ])
})
