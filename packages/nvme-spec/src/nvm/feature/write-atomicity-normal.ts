import { FID } from '../../admin/features.js'
import { bit, feature } from '../../layout/index.js'

/** Write Atomicity Normal (FID 0Ah): whether AWUN and NAWUN are honored (NVM 1.2 §4.1.3.3, Figure 97). */
export const WriteAtomicityNormal = feature(
  'Write Atomicity Normal',
  { fid: FID.WRITE_ATOMICITY_NORMAL, doc: 'Use of AWUN and NAWUN', spec: 'NVM 1.2 §4.1.3.3' },
  { CDW11: { DN: bit(0, 'Disable Normal') } },
)
