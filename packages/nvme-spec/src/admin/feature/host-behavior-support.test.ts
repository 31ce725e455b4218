import { expect, it } from 'vitest'
import { bytesOf, rowsOf } from '../../../test/figures.js'
import { HostBehavior, HostBehaviorSupport } from './host-behavior-support.js'

it('Host Behavior Support: the members of nvme_feat_host_behavior (libnvme 1.16), in 512 bytes', () => {
  expect(HostBehaviorSupport.data).toBe(HostBehavior)
  expect(HostBehavior.bytes).toBe(512)
  expect(bytesOf(HostBehavior)).toEqual([
    ['ACRE', 0, 1],
    ['ETDAS', 1, 1],
    // NVM 1.2 §4.1.3.6, Figure 100 has this byte as well.
    ['LBAFEE', 2, 1],
    ['HDISNS', 3, 1],
    ['CDFE', 4, 2],
  ])
  expect(rowsOf({ fields: HostBehavior.fields.CDFE.rows })).toEqual([
    ['CDF2E', 2, 2],
    ['CDF3E', 3, 3],
    ['CDF4E', 4, 4],
  ])
})
