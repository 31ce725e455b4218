import { bits, feature } from '../../layout/index.js'
import { FID } from '../features.js'

/** Endurance Group Event Configuration (FID 18h): warnings of a group that are reported as events. */
export const EnduranceGroupEventConfiguration = feature(
  'Endurance Group Event Configuration',
  {
    fid: FID.ENDURANCE_GROUP_EVENT_CONFIGURATION,
    doc: 'Warnings of a group reported as events',
    spec: 'libnvme 1.3 NVME_FEAT_EG_ENDGID_SHIFT',
  },
  {
    CDW11: {
      ENDGID: bits(15, 0, 'Endurance Group Identifier'),
      EGCW: bits(23, 16, 'Endurance Group Critical Warnings'),
    },
  },
)
