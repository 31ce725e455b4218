import { bit, bits, feature } from '../../layout/index.js'
import { FID } from '../features.js'

/** Asynchronous Event Configuration (FID 0Bh): which events are reported (Base 2.1 Figure 391). */
export const AsynchronousEventConfiguration = feature(
  'Asynchronous Event Configuration',
  { fid: FID.ASYNCHRONOUS_EVENT_CONFIGURATION, doc: 'Enabled asynchronous events', spec: 'Base 2.1 §5.1.25.1.5' },
  {
    CDW11: {
      SHCW: bits(7, 0, 'SMART / Health Critical Warnings'),
      NAN: bit(8, 'Attached Namespace Attribute Notices'),
      FAN: bit(9, 'Firmware Activation Notices'),
      TLN: bit(10, 'Telemetry Log Notices'),
      ANACN: bit(11, 'Asymmetric Namespace Access Change Notices'),
      PLEALCN: bit(12, 'Predictable Latency Event Aggregate Log Change Notices'),
      LSIAN: bit(13, 'LBA Status Information Alert Notices'),
      EGEALCN: bit(14, 'Endurance Group Event Aggregate Log Change Notices'),
      NNSSHDN: bit(15, 'Normal NVM Subsystem Shutdown'),
      TTHRY: bit(16, 'Temperature Threshold Hysteresis Recovery'),
      RASSN: bit(17, 'Reachability Association'),
      RGRP0: bit(18, 'Reachability Group'),
      ANSAN: bit(19, 'Allocated Namespace Attribute Notices'),
      ZDCN: bit(27, 'Zone Descriptor Changed Notices'),
      PMDRLPCN: bit(28, 'Pull Model DDC Request Log Page Change Notification'),
      ADLPCN: bit(29, 'AVE Discovery Log Page Change Notification'),
      HDLPCN: bit(30, 'Host Discovery Log Page Change Notification'),
      DLPCN: bit(31, 'Discovery Log Page Change Notification'),
    },
  },
)
