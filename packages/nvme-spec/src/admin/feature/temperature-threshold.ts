import { bits, feature } from '../../layout/index.js'
import { FID } from '../features.js'

/** Temperature Threshold (FID 04h): one threshold of one sensor, selected by TMPSEL and THSEL. */
export const TemperatureThreshold = feature(
  'Temperature Threshold',
  {
    fid: FID.TEMPERATURE_THRESHOLD,
    doc: 'Thresholds of critical temperature warnings',
    spec: 'libnvme 1.16 NVME_FEAT_TT_TMPTH_SHIFT',
  },
  {
    CDW11: {
      TMPTH: bits(15, 0, 'Temperature Threshold in kelvins'),
      TMPSEL: bits(19, 16, 'Threshold Temperature Select; 0 for composite'),
      THSEL: bits(21, 20, 'Threshold Type Select', { OVER: 0, UNDER: 1 }),
      TMPTHH: bits(24, 22, 'Temperature Threshold Hysteresis in kelvins'),
    },
  },
)
