import {
  ErrorLogEntry,
  IdentifyController,
  LID,
  logStructure,
  LogPageSupport,
  SupportedLogPages,
} from '@gpunvme/nvme-spec'
import type { AdminView } from './view.js'
import { claim, isClaimed, type Claim } from './claims.js'

/** Name of a log page, and the field of Identify Controller that reports its support. */
interface NamedPage {
  readonly lid: number
  readonly name: string
  /** Undefined if each drive has it. */
  readonly claim?: Claim
}

const NAMED: readonly NamedPage[] = [
  { lid: LID.SUPPORTED_LOG_PAGES, name: 'supported', claim: claim('LPA.MLPS') },
  { lid: LID.ERROR_INFORMATION, name: 'error' },
  { lid: LID.SMART_HEALTH_INFORMATION, name: 'smart' },
  { lid: LID.FIRMWARE_SLOT_INFORMATION, name: 'firmware' },
  { lid: LID.CHANGED_ATTACHED_NAMESPACE_LIST, name: 'changed-ns', claim: claim('OAES.NSAN') },
  { lid: LID.COMMANDS_SUPPORTED_AND_EFFECTS, name: 'effects', claim: claim('LPA.CSES') },
  { lid: LID.DEVICE_SELF_TEST, name: 'self-test', claim: claim('OACS.DSTS') },
  { lid: LID.TELEMETRY_HOST_INITIATED, name: 'telemetry-host', claim: claim('LPA.TS') },
  { lid: LID.TELEMETRY_CONTROLLER_INITIATED, name: 'telemetry-controller', claim: claim('LPA.TS') },
  { lid: LID.ENDURANCE_GROUP_INFORMATION, name: 'endurance', claim: claim('CTRATT.EGS') },
  { lid: LID.PREDICTABLE_LATENCY_PER_NVM_SET, name: 'latency', claim: claim('CTRATT.PLM') },
  { lid: LID.PREDICTABLE_LATENCY_EVENT_AGGREGATE, name: 'latency-events', claim: claim('CTRATT.PLM') },
  { lid: LID.ASYMMETRIC_NAMESPACE_ACCESS, name: 'ana', claim: claim('CMIC.ANARS') },
  { lid: LID.PERSISTENT_EVENT_LOG, name: 'persistent-event', claim: claim('LPA.PES') },
  { lid: LID.LBA_STATUS_INFORMATION, name: 'lba-status', claim: claim('OACS.GLSS') },
  { lid: LID.ENDURANCE_GROUP_EVENT_AGGREGATE, name: 'endurance-events', claim: claim('CTRATT.EGS') },
  { lid: LID.FEATURE_IDENTIFIERS_SUPPORTED_AND_EFFECTS, name: 'feature-effects', claim: claim('LPA.MLPS') },
  { lid: LID.COMMAND_AND_FEATURE_LOCKDOWN, name: 'lockdown', claim: claim('OACS.CFLS') },
  { lid: LID.RESERVATION_NOTIFICATION, name: 'reservation', claim: claim('ONCS.RESERVS') },
  { lid: LID.SANITIZE_STATUS, name: 'sanitize', claim: claim('SANICAP') },
]

/** Bytes read of an undeclared page. */
const UNDECLARED_BYTES = 512

/** Maximum length from a drive without offset support (LPA.LPEDS). */
const FIRST_PART_BYTES = 4096

/** Returns the name of a page: 'smart', 'boot-partition', '0xca'. */
export function nameOfPage(lid: number): string {
  return NAMED.find((page) => page.lid === lid)?.name ?? specNameOf(lid)
}

function specNameOf(lid: number): string {
  return LID.nameOf(lid).toLowerCase().replaceAll('_', '-')
}

/** Finds a page by its short name or the specification's; undefined for an unknown name. */
export function pageNamed(word: string): number | undefined {
  const name = word.toLowerCase().replaceAll('_', '-')
  return (
    NAMED.find((page) => page.name === name)?.lid ?? Object.values(LID.values).find((lid) => specNameOf(lid) === name)
  )
}

/** The short names, to suggest for a mistyped one. */
export const PAGE_NAMES: readonly string[] = NAMED.map(({ name }) => name)

/** A page of a drive, and the field that reports it. */
export interface SupportedPage {
  readonly lid: number
  readonly name: string
  readonly declaredBy: string
}

/**
 * Returns the pages that a drive reports. Others are not requested, since many drives count a rejected request as an
 * error.
 */
export async function supportedPages({ reader }: AdminView): Promise<SupportedPage[]> {
  const identity = IdentifyController.decode(reader.identity.raw)
  if (isClaimed(identity, claim('LPA.MLPS'))) {
    const page = await reader.logPage(LID.SUPPORTED_LOG_PAGES, { lengthBytes: SupportedLogPages.bytes })
    return Array.from(SupportedLogPages.view(page).LIDS, (support, lid) => ({ support, lid }))
      .filter(({ support }) => LogPageSupport.LSUPP.of(support) === 1)
      .map(({ lid }) => ({ lid, name: nameOfPage(lid), declaredBy: 'log page 00h' }))
  }
  return NAMED.filter((page) => page.claim === undefined || isClaimed(identity, page.claim)).map((page) => ({
    lid: page.lid,
    name: page.name,
    declaredBy: page.claim?.path ?? 'every drive',
  }))
}

/** Returns the default length for a page: all of it, or its header if its length varies. */
export function usualBytes(lid: number, identity: DataView): number {
  if (lid === LID.ERROR_INFORMATION) {
    const { ELPE, LPA } = IdentifyController.view(identity)
    const wholeBytes = (ELPE + 1) * ErrorLogEntry.bytes
    return IdentifyController.LPA.LPEDS.of(LPA) === 1 ? wholeBytes : Math.min(wholeBytes, FIRST_PART_BYTES)
  }
  const structure = logStructure(lid)
  // The command counts whole dwords.
  return structure === undefined ? UNDECLARED_BYTES : Math.ceil(structure.bytes / 4) * 4
}
