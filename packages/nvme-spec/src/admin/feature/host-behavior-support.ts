import { bit, feature, struct, u16, u8 } from '../../layout/index.js'
import { FID } from '../features.js'

/** Behavior that the host supports, one byte each, 1 for yes (LBAFEE also in NVM 1.2 §4.1.3.6, Figure 100). */
export const HostBehavior = struct(
  'Host Behavior',
  { bytes: 512, doc: 'Behavior supported by the host', spec: 'libnvme 1.16 nvme_feat_host_behavior' },
  {
    ACRE: u8(0, 'Advanced Command Retry Enable'),
    ETDAS: u8(1, 'Extended Telemetry Data Area 4 Supported'),
    LBAFEE: u8(2, 'LBA Format Extension Enable'),
    HDISNS: u8(3, 'Host Dispersed Namespace Support'),
    CDFE: u16(4, 'Copy Descriptor Formats Enable', {
      CDF2E: bit(2, 'Copy Descriptor Format 2h Enable'),
      CDF3E: bit(3, 'Copy Descriptor Format 3h Enable'),
      CDF4E: bit(4, 'Copy Descriptor Format 4h Enable'),
    }),
  },
)

/** Host Behavior Support (FID 16h): behavior that the host supports, as data (Base 2.1 §5.1.25.1.14). */
export const HostBehaviorSupport = feature(
  'Host Behavior Support',
  {
    fid: FID.HOST_BEHAVIOR_SUPPORT,
    doc: 'Behavior supported by the host',
    spec: 'Base 2.1 §5.1.25.1.14',
    data: HostBehavior,
  },
  {},
)
