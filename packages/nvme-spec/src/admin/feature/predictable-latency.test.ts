import { describe, expect, it } from 'vitest'
import { bytesOf, rowsOf } from '../../../test/figures.js'
import {
  DeterministicThresholdConfiguration,
  PredictableLatencyModeConfig,
  PredictableLatencyModeWindow,
} from './predictable-latency.js'

describe('features of Predictable Latency Mode', () => {
  it('Predictable Latency Mode Config: NVMSETID, then PLME (libnvme 1.3 nvme_set_features_plm_config)', () => {
    expect(rowsOf(PredictableLatencyModeConfig.CDW11)).toEqual([['NVMSETID', 15, 0]])
    expect(rowsOf(PredictableLatencyModeConfig.CDW12)).toEqual([['PLME', 0, 0]])
    expect(rowsOf(PredictableLatencyModeConfig.DW0)).toEqual([['PLME', 0, 0]])
    expect(PredictableLatencyModeConfig.data).toBe(DeterministicThresholdConfiguration)
  })

  it('DeterministicThresholdConfiguration: the members of nvme_plm_config (libnvme 1.3), in 512 bytes', () => {
    expect(DeterministicThresholdConfiguration.bytes).toBe(512)
    expect(bytesOf(DeterministicThresholdConfiguration)).toEqual([
      ['EE', 0, 2],
      ['DTWINRT', 32, 8],
      ['DTWINWT', 40, 8],
      ['DTWINTT', 48, 8],
    ])
  })

  it('Predictable Latency Mode Window: NVMSETID, then WSEL, which Dword 0 returns (Base 2.1 §5.1.25.1.13)', () => {
    // Figures 405 and 406.
    expect(rowsOf(PredictableLatencyModeWindow.CDW11)).toEqual([['NVMSETID', 15, 0]])
    expect(rowsOf(PredictableLatencyModeWindow.CDW12)).toEqual([['WSEL', 2, 0]])
    expect(rowsOf(PredictableLatencyModeWindow.DW0)).toEqual([['WSEL', 2, 0]])
    expect(PredictableLatencyModeWindow.CDW12.fields.WSEL.values).toEqual({ DTWIN: 1, NDWIN: 2 })
  })
})
