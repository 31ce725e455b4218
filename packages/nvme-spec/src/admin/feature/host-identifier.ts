import { bit, bytes, feature, struct } from '../../layout/index.js'
import { FID } from '../features.js'

/** Identifier of the host; without EXHID only the first 8 bytes are transferred (`nvme_set_features_host_id`). */
export const HostIdentifierData = struct(
  'Host Identifier data',
  { bytes: 16, doc: 'Identifier of the host', spec: 'libnvme 1.3 NVME_FEAT_HOSTID_EXHID_SHIFT' },
  { HOSTID: bytes(0, 16, 'Host Identifier') },
)

/** Host Identifier (FID 81h), as data (Base 2.1 §5.1.25.1.28). */
export const HostIdentifier = feature(
  'Host Identifier',
  {
    fid: FID.HOST_IDENTIFIER,
    doc: 'Identifier of the host',
    spec: 'libnvme 1.3 NVME_FEAT_HOSTID_EXHID_SHIFT',
    data: HostIdentifierData,
  },
  { CDW11: { EXHID: bit(0, 'Enable Extended Host Identifier: 16 bytes, not 8') } },
)
