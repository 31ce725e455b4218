import { expect, it } from 'vitest'
import { bytesOf, rowsOf } from '../../../test/figures.js'
import { HostIdentifier, HostIdentifierData } from './host-identifier.js'

it('Host Identifier: 16 bytes with EXHID, bit 0, and 8 without (libnvme 1.3 nvme_set_features_host_id)', () => {
  expect(rowsOf(HostIdentifier.CDW11)).toEqual([['EXHID', 0, 0]])
  expect(HostIdentifier.data).toBe(HostIdentifierData)
  expect(HostIdentifierData.bytes).toBe(16)
  expect(bytesOf(HostIdentifierData)).toEqual([['HOSTID', 0, 16]])
})
