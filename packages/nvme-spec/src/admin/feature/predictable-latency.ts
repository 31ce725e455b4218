import { bit, bits, feature, struct, u16, u64 } from '../../layout/index.js'
import { FID } from '../features.js'

/** Thresholds of warning events; the bits of Enable Event are those of the log's event type. */
export const DeterministicThresholdConfiguration = struct(
  'Deterministic Threshold Configuration',
  { bytes: 512, doc: 'Thresholds of a Deterministic Window', spec: 'libnvme 1.3 nvme_plm_config' },
  {
    EE: u16(0, 'Enable Event'),
    DTWINRT: u64(32, 'DTWIN Reads Threshold'),
    DTWINWT: u64(40, 'DTWIN Writes Threshold'),
    DTWINTT: u64(48, 'DTWIN Time Threshold'),
  },
)

/** Predictable Latency Mode Config (FID 13h) of an NVM Set (`nvme_set_features_plm_config`, NVME_FEAT_PLM_PLME). */
export const PredictableLatencyModeConfig = feature(
  'Predictable Latency Mode Config',
  {
    fid: FID.PREDICTABLE_LATENCY_MODE_CONFIG,
    doc: 'Predictable Latency Mode of an NVM Set',
    spec: 'libnvme 1.3 NVME_FEAT_PLM_PLME_SHIFT',
    data: DeterministicThresholdConfiguration,
  },
  {
    CDW11: { NVMSETID: bits(15, 0, 'NVM Set Identifier') },
    CDW12: { PLME: bit(0, 'Predictable Latency Enable') },
    DW0: { PLME: bit(0, 'Predictable Latency Enable') },
  },
)

const WSEL = bits(2, 0, 'Window Select', { DTWIN: 1, NDWIN: 2 })

/** Predictable Latency Mode Window (FID 14h) of an NVM Set (Base 2.1 Figures 405 and 406). */
export const PredictableLatencyModeWindow = feature(
  'Predictable Latency Mode Window',
  { fid: FID.PREDICTABLE_LATENCY_MODE_WINDOW, doc: 'Window of an NVM Set', spec: 'Base 2.1 §5.1.25.1.13' },
  { CDW11: { NVMSETID: bits(15, 0, 'NVM Set Identifier') }, CDW12: { WSEL }, DW0: { WSEL } },
)
