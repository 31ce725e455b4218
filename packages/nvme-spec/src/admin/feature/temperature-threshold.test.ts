import { expect, it } from 'vitest'
import { rowsOf } from '../../../test/figures.js'
import { TemperatureThreshold } from './temperature-threshold.js'

it('Temperature Threshold: the shifts and masks of libnvme 1.16 (NVME_FEAT_TT_*)', () => {
  expect(rowsOf(TemperatureThreshold.CDW11)).toEqual([
    ['TMPTH', 15, 0],
    ['TMPSEL', 19, 16],
    ['THSEL', 21, 20],
    ['TMPTHH', 24, 22],
  ])
  // nvme_feat_tmpthresh_thsel.
  expect(TemperatureThreshold.CDW11.fields.THSEL.values).toEqual({ OVER: 0, UNDER: 1 })
  expect(TemperatureThreshold.CDW11.encode({ TMPTH: 343, THSEL: 1, TMPTHH: 5 })).toBe(0x0150_0157)
})
