import { describe, expect, it } from 'vitest'
import { sparse } from '../../test/bytes.js'
import { bytesOf } from '../../test/figures.js'
import { ChangedZoneList } from './log-zones.js'

describe('Changed Zone List (LID BFh; libnvme 1.3 nvme_zns_changed_zone_log)', () => {
  it('is a count and 511 zones', () => {
    expect([ChangedZoneList.bytes, ...bytesOf(ChangedZoneList)]).toEqual([4096, ['NRZID', 0, 2], ['ZID', 8, 4088]])
  })

  it('decodes a list of two zones', () => {
    const { NRZID, ZID } = ChangedZoneList.decode(sparse(4096, { 0: '02', 9: '80', 16: '00 00 00 00 01' }))
    expect([NRZID, ZID.length, ZID[0], ZID[1], ZID[510]]).toEqual([2, 511, 32_768n, 4_294_967_296n, 0n])
  })
})
