import { struct, u16, u64Array } from '../layout/index.js'

/**
 * Changed Zone List (LID BFh): zones, by their first LBA, whose descriptors the controller has changed on its own
 * (libnvme 1.3 `nvme_zns_changed_zone_log`).
 */
export const ChangedZoneList = struct(
  'Changed Zone List',
  { bytes: 4096, doc: 'Zones changed by the controller (LID BFh)', spec: 'libnvme 1.3 nvme_zns_changed_zone_log' },
  { NRZID: u16(0, 'Number of Zone Identifiers'), ZID: u64Array(8, 511, 'Zone Identifiers: first LBAs') },
)
