import { expect, it } from 'vitest'
import { rowsOf } from '../../../test/figures.js'
import { NumberOfQueues } from './number-of-queues.js'

it('Number of Queues: requested in Command Dword 11, allocated in Dword 0 (libnvme 1.3 NVME_FEAT_NRQS_*)', () => {
  expect(rowsOf(NumberOfQueues.CDW11)).toEqual([
    ['NSQR', 15, 0],
    ['NCQR', 31, 16],
  ])
  expect(rowsOf(NumberOfQueues.DW0)).toEqual([
    ['NSQA', 15, 0],
    ['NCQA', 31, 16],
  ])
})
