import { expect, it } from 'vitest'
import { rowsOf } from '../../../test/figures.js'
import { SoftwareProgressMarker } from './software-progress-marker.js'

it('Software Progress Marker: PBSLC is bits 07:00 (Base 2.1 §5.1.25.1.27, Figure 436)', () => {
  expect(rowsOf(SoftwareProgressMarker.CDW11)).toEqual([['PBSLC', 7, 0]])
})
