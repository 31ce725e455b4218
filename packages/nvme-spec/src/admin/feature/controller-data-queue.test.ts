import { expect, it } from 'vitest'
import { bytesOf, rowsOf } from '../../../test/figures.js'
import { ControllerDataQueue, ControllerDataQueueData } from './controller-data-queue.js'

it('Controller Data Queue: its identifier, head and trigger (Base 2.1 §5.1.25.1.23, Figures 425 to 427)', () => {
  // libnvme 1.16, nvme_lm_set_features_ctrl_data_queue.
  expect(rowsOf(ControllerDataQueue.CDW11)).toEqual([
    ['CDQID', 15, 0],
    ['ETPT', 31, 31],
  ])
  expect(rowsOf(ControllerDataQueue.CDW12)).toEqual([['HP', 31, 0]])
  expect(rowsOf(ControllerDataQueue.CDW13)).toEqual([['TPT', 31, 0]])
  expect(ControllerDataQueue.data).toBe(ControllerDataQueueData)
  expect(ControllerDataQueueData.bytes).toBe(512)
  expect(bytesOf(ControllerDataQueueData)).toEqual([
    ['HP', 0, 4],
    ['TPT', 4, 4],
  ])
})
