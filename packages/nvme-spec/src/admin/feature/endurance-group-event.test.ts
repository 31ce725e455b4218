import { expect, it } from 'vitest'
import { rowsOf } from '../../../test/figures.js'
import { EnduranceGroupEventConfiguration } from './endurance-group-event.js'

it('Endurance Group Event Configuration: the shifts and masks of libnvme 1.3 (NVME_FEAT_EG_*)', () => {
  expect(rowsOf(EnduranceGroupEventConfiguration.CDW11)).toEqual([
    ['ENDGID', 15, 0],
    ['EGCW', 23, 16],
  ])
})
