import { FID } from '../../admin/features.js'
import { bit, bits, feature } from '../../layout/index.js'

/** Error Recovery (FID 05h) of a namespace (NVM 1.2 §4.1.3.2, Figure 96). */
export const ErrorRecovery = feature(
  'Error Recovery',
  { fid: FID.ERROR_RECOVERY, doc: 'Error recovery of a namespace', spec: 'NVM 1.2 §4.1.3.2' },
  {
    CDW11: {
      TLER: bits(15, 0, 'Time Limited Error Recovery in units of 100 ms'),
      DULBE: bit(16, 'Deallocated or Unwritten Logical Block Error Enable'),
    },
  },
)
