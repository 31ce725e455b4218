import { expect, it } from 'vitest'
import { rowsOf } from '../../../test/figures.js'
import { SanitizeConfig } from './sanitize-config.js'

it('Sanitize Config: NODRM is bit 0 (libnvme 1.3 NVME_FEAT_SC_NODRM_SHIFT)', () => {
  expect(rowsOf(SanitizeConfig.CDW11)).toEqual([['NODRM', 0, 0]])
})
