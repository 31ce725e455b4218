import { describe, expect, it } from 'vitest'
import { bytesOf, rowsOf } from '../../../test/figures.js'
import { FlexibleDataPlacement, FlexibleDataPlacementEvents, SupportedFdpEvent } from './flexible-data-placement.js'

describe('features of Flexible Data Placement', () => {
  it('Flexible Data Placement: ENDGID, then FDPE and FDPCIDX (libnvme 1.3 NVME_FEAT_FDP_*)', () => {
    expect(rowsOf(FlexibleDataPlacement.CDW11)).toEqual([['ENDGID', 15, 0]])
    expect(FlexibleDataPlacement.CDW12.encode({ FDPE: 1, FDPCIDX: 3 })).toBe(0x0301)
    expect(FlexibleDataPlacement.DW0.decode(0x0301)).toEqual({ FDPE: 1, FDPCIDX: 3 })
  })

  it('Flexible Data Placement Events: PHNDL and NOET (libnvme 1.3 nvme_feat_fdp_events_cdw11), then the enable bit', () => {
    expect(rowsOf(FlexibleDataPlacementEvents.CDW11)).toEqual([
      ['PHNDL', 15, 0],
      ['NOET', 23, 16],
    ])
    expect(rowsOf(FlexibleDataPlacementEvents.CDW12)).toEqual([['FDPEE', 0, 0]])
    expect(FlexibleDataPlacementEvents.DW0.decode(9)).toEqual({ reserved: 9 })
  })

  it('SupportedFdpEvent: a type and whether it is enabled (Base 2.1 §5.1.25.1.21, Figure 422)', () => {
    expect(SupportedFdpEvent.bytes).toBe(2)
    expect(bytesOf(SupportedFdpEvent)).toEqual([
      ['FDPET', 0, 1],
      ['FDPETA', 1, 1],
    ])
    expect(SupportedFdpEvent.FDPETA.FDPEE.of(1)).toBe(1)
    expect(FlexibleDataPlacementEvents.data).toBe(SupportedFdpEvent)
  })
})
