import { describe, expect, it } from 'vitest'
import { fromHex } from '../../test/bytes.js'
import { bytesOf, rowsOf } from '../../test/figures.js'
import { BootPartitionHeader } from './log-boot-partition.js'

describe('Boot Partition (LID 15h, Base 2.3 §5.2.12.1.21; libnvme 1.3 nvme_boot_partition)', () => {
  it('begins with the fields of Figure 273', () => {
    expect([BootPartitionHeader.bytes, ...bytesOf(BootPartitionHeader)]).toEqual([16, ['LID', 0, 1], ['BPINFO', 4, 4]])
    expect(rowsOf({ fields: BootPartitionHeader.fields.BPINFO.rows })).toEqual([
      ['BPSZ', 14, 0],
      ['ABPID', 31, 31],
    ])
  })

  it('decodes a header: 1 MiB, partition 1 is active', () => {
    expect(BootPartitionHeader.decode(fromHex('15 00 00 00 08 00 00 80 00 00 00 00 00 00 00 00'))).toEqual({
      LID: 0x15,
      BPINFO: { BPSZ: 8, ABPID: 1 },
    })
  })
})
