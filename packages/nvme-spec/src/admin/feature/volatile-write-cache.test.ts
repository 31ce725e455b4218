import { expect, it } from 'vitest'
import { rowsOf } from '../../../test/figures.js'
import { VolatileWriteCache } from './volatile-write-cache.js'

it('Volatile Write Cache: WCE is bit 0 (Base 2.1 §5.1.25.1.4, Figure 390)', () => {
  expect(rowsOf(VolatileWriteCache.CDW11)).toEqual([['WCE', 0, 0]])
})
