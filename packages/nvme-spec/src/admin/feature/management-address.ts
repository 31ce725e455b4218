import { ascii, feature, struct } from '../../layout/index.js'
import { FID } from '../features.js'

/** A URI of a management agent of the system (Base 2.1 Figure 428). */
export const EmbeddedManagementControllerAddressData = struct(
  'Embedded Management Controller Address data',
  { bytes: 512, doc: 'URI of a management agent of the system', spec: 'Base 2.1 §5.1.25.1.24' },
  { EMCA: ascii(4, 508, 'Embedded Management Controller Address', 0) },
)

/** Embedded Management Controller Address (FID 78h). */
export const EmbeddedManagementControllerAddress = feature(
  'Embedded Management Controller Address',
  {
    fid: FID.EMBEDDED_MANAGEMENT_CONTROLLER_ADDRESS,
    doc: 'Management agent of the system',
    spec: 'Base 2.1 §5.1.25.1.24',
    data: EmbeddedManagementControllerAddressData,
  },
  {},
)

/** A URI of a management agent of the host (Base 2.1 Figure 429). */
export const HostManagementAgentAddressData = struct(
  'Host Management Agent Address data',
  { bytes: 512, doc: 'URI of a management agent of the host', spec: 'Base 2.1 §5.1.25.1.25' },
  { HMAA: ascii(4, 508, 'Host Management Agent Address', 0) },
)

/** Host Management Agent Address (FID 79h). */
export const HostManagementAgentAddress = feature(
  'Host Management Agent Address',
  {
    fid: FID.HOST_MANAGEMENT_AGENT_ADDRESS,
    doc: 'Management agent of the host',
    spec: 'Base 2.1 §5.1.25.1.25',
    data: HostManagementAgentAddressData,
  },
  {},
)
