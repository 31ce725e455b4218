import { describe, expect, it } from 'vitest'
import {
  BootPartitionWriteProtectionConfig,
  DeterministicThresholdConfiguration,
  EnduranceGroupEventConfiguration,
  FlexibleDataPlacement,
  FlexibleDataPlacementEvents,
  NamespaceWriteProtectionConfig,
  PredictableLatencyModeConfig,
  PredictableLatencyModeWindow,
  ReadRecoveryLevelConfig,
  ReservationNotificationMask,
  ReservationPersistence,
  SupportedFdpEvent,
} from './features-media.js'
import { bytesOf, rowsOf } from '../../test/figures.js'

describe('read recovery level', () => {
  it('Read Recovery Level Config: NVMSETID, then RRL, which Dword 0 returns (Base 2.1 §5.1.25.1.11)', () => {
    // Figures 400 and 401.
    expect(rowsOf(ReadRecoveryLevelConfig.CDW11)).toEqual([['NVMSETID', 15, 0]])
    expect(rowsOf(ReadRecoveryLevelConfig.CDW12)).toEqual([['RRL', 3, 0]])
    expect(rowsOf(ReadRecoveryLevelConfig.DW0)).toEqual([['RRL', 3, 0]])
  })
})

describe('predictable latency', () => {
  describe('Predictable Latency Mode features', () => {
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
})

describe('endurance group event', () => {
  it('Endurance Group Event Configuration: the shifts and masks of libnvme 1.3 (NVME_FEAT_EG_*)', () => {
    expect(rowsOf(EnduranceGroupEventConfiguration.CDW11)).toEqual([
      ['ENDGID', 15, 0],
      ['EGCW', 23, 16],
    ])
  })
})

describe('flexible data placement', () => {
  describe('Flexible Data Placement features', () => {
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
})

describe('reservation', () => {
  describe('reservation features (libnvme 1.3)', () => {
    it('Reservation Notification Mask: the bits of nvme_feat_resv_notify_flags', () => {
      expect(rowsOf(ReservationNotificationMask.CDW11)).toEqual([
        ['REGPRE', 1, 1],
        ['RESREL', 2, 2],
        ['RESPRE', 3, 3],
      ])
    })

    it('Reservation Persistence: PTPL is bit 0 (NVME_FEAT_RP_PTPL_SHIFT)', () => {
      expect(rowsOf(ReservationPersistence.CDW11)).toEqual([['PTPL', 0, 0]])
    })
  })
})

describe('write protection', () => {
  describe('write protection features', () => {
    it('Namespace Write Protection Config: the states of nvme_feat_nswpcfg_state (libnvme 1.3) in bits 2:0', () => {
      const { CDW11 } = NamespaceWriteProtectionConfig
      expect(rowsOf(CDW11)).toEqual([['WPS', 2, 0]])
      expect(CDW11.fields.WPS.values).toEqual({
        ...{ NO_WRITE_PROTECT: 0, WRITE_PROTECT: 1, WRITE_PROTECT_UNTIL_POWER_CYCLE: 2, PERMANENT_WRITE_PROTECT: 3 },
      })
    })

    it('Boot Partition Write Protection Config: a state for each partition (Base 2.3 §5.2.26.1.36, Figure 471)', () => {
      const { CDW11 } = BootPartitionWriteProtectionConfig
      expect(rowsOf(CDW11)).toEqual([
        ['BP0WPS', 2, 0],
        ['BP1WPS', 5, 3],
      ])
      for (const row of [CDW11.fields.BP0WPS, CDW11.fields.BP1WPS]) {
        expect(row.values).toEqual({
          ...{ CHANGE_NOT_REQUESTED: 0, WRITE_UNLOCKED: 1, WRITE_LOCKED: 2 },
          ...{ WRITE_LOCKED_UNTIL_POWER_CYCLE: 3, CONTROLLED_BY_RPMB: 4 },
        })
      }
    })
  })
})
