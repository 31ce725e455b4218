import {
  Compare,
  Copy,
  DatasetManagement,
  DoorbellBufferConfig,
  FormatNvm,
  IdentifyController,
  NamespaceManagement,
  Verify,
  WriteUncorrectable,
  WriteZeroes,
  zeroBased,
} from '@gpunvme/nvme-spec'
import type { Device } from '../controller/device.js'
import { ERROR_LOG_ENTRIES } from '../logs/error-log.js'
import type { SupportedCommands } from '../logs/supported.js'
import { nvmControllerFields } from '../nvm/identify.js'
import { ABORT_COMMAND_LIMIT } from './abort.js'
import { ASYNC_EVENT_REQUESTS } from './events.js'
import { uuid, uuidText } from './uuid.js'

const FULL_POWER_CENTIWATTS = 825

/** Identify Controller (Base 2.1 §5.1.13.2.1): from the profile and from the supported commands. */
export function identifyController(device: Device, supported: SupportedCommands): DataView {
  const { profile, namespaces, health } = device
  const { identify: own, VS } = profile
  return IdentifyController.create({
    VER: VS,
    CNTRLTYPE: IdentifyController.CNTRLTYPE.IO,
    OAES: { NSAN: 1 },
    OACS: adminSupport(supported),
    ACL: ABORT_COMMAND_LIMIT,
    AERL: zeroBased(ASYNC_EVENT_REQUESTS),
    FRMW: { FFSRO: 1, NOFS: 1 },
    // SMART applies to the whole controller; every log page supports 32-bit offsets and lengths.
    LPA: { CSES: 1, LPEDS: 1, MLPS: 1 },
    ELPE: ERROR_LOG_ENTRIES,
    NPSS: zeroBased(1),
    WCTEMP: health.warningKelvins,
    CCTEMP: health.criticalKelvins,
    SQES: { MINSQES: 6, MAXSQES: 6 },
    CQES: { MINCQES: 4, MAXCQES: 4 },
    NN: namespaces.NN,
    ONCS: nvmSupport(supported),
    VWC: { VWCP: 1, FB: IdentifyController.VWC.FB.SUPPORTED },
    NWPC: { NWPWPS: 1 },
    SUBNQN: `nqn.2014-08.org.nvmexpress:uuid:${uuidText(uuid(own.SN ?? '', 0))}`,
    ...nvmControllerFields(namespaces),
    PSD: [{ MP: FULL_POWER_CENTIWATTS }],
    ...own,
  }).data
}

/** OACS: the optional Admin commands that have a handler. */
function adminSupport({ admin }: SupportedCommands) {
  const has = (opcode: number) => (admin.has(opcode) ? 1 : 0)
  return {
    FNVMS: has(FormatNvm.opcode),
    NMS: has(NamespaceManagement.opcode),
    DBCS: has(DoorbellBufferConfig.opcode),
  } as const
}

/** ONCS: the optional I/O commands that have a handler, and the features. */
function nvmSupport({ io }: SupportedCommands) {
  const has = (opcode: number) => (io[opcode] === undefined ? 0 : 1)
  return {
    NVMCMPS: has(Compare.opcode),
    NVMWUSV: has(WriteUncorrectable.opcode),
    NVMDSMSV: has(DatasetManagement.opcode),
    NVMWZSV: has(WriteZeroes.opcode),
    SSFS: 1,
    TSS: 1,
    NVMVFYS: has(Verify.opcode),
    NVMCPYS: has(Copy.opcode),
    NVMCSA: has(Copy.opcode),
    NSZS: has(WriteZeroes.opcode),
  } as const
}
