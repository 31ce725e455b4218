import { FirmwareSlotLog, GetLogPage, LID, STATUS } from '@gpunvme/nvme-spec'
import { sendData } from '../admin/admin-command.js'
import type { Result, ServedCommand } from '../controller/command.js'
import type { Device } from '../controller/device.js'
import { BROADCAST_NSID } from '../nvm/namespaces.js'
import { commandEffectsPage, featureEffectsPage, supportedLogPages, type SupportedCommands } from './supported.js'

interface LogPage {
  read(device: Device, supported: SupportedCommands): DataView
  /** Called when the host has read the page without retaining its event. */
  cleared?(device: Device): void
}

/** The log pages, all of the controller or the NVM subsystem. */
const pages: ReadonlyMap<number, LogPage> = new Map<number, LogPage>([
  [LID.SUPPORTED_LOG_PAGES, { read: () => supportedLogPages(pages.keys()) }],
  [LID.ERROR_INFORMATION, { read: ({ errors }) => errors.page() }],
  [LID.SMART_HEALTH_INFORMATION, { read: ({ health }) => health.page(), cleared: ({ health }) => health.check() }],
  [LID.FIRMWARE_SLOT_INFORMATION, { read: firmwareSlots }],
  [
    LID.CHANGED_ATTACHED_NAMESPACE_LIST,
    {
      read: ({ changedNamespaces }) => changedNamespaces.page(),
      cleared: ({ changedNamespaces }) => changedNamespaces.clear(),
    },
  ],
  [LID.COMMANDS_SUPPORTED_AND_EFFECTS, { read: (_, supported) => commandEffectsPage(supported) }],
  [LID.FEATURE_IDENTIFIERS_SUPPORTED_AND_EFFECTS, { read: featureEffectsPage }],
])

/** Get Log Page (Base 2.3 §5.2.12). */
export function getLogPage(command: ServedCommand, device: Device, supported: SupportedCommands): Result {
  const { LID: lid, RAE, NUMDL, NUMDU, LPOL, LPOU, OT } = GetLogPage.view(command.data)
  const { NSID } = command.sqe
  const page = pages.get(lid)
  if (page === undefined) return STATUS.INVALID_LOG_PAGE
  // No page is kept per namespace, as reported in LPA.SMARTS (Base 2.3 §5.2.12.1).
  if (NSID !== 0 && NSID !== BROADCAST_NSID) return command.invalidField(4)
  if (OT === 1) return command.invalidField(58, 7)
  const lengthBytes = (NUMDU * 2 ** 16 + NUMDL + 1) * 4
  if (lengthBytes > device.maxTransferBytes) return command.invalidField(42)
  const data = page.read(device, supported)
  const offsetBytes = LPOU * 2 ** 32 + LPOL
  if (offsetBytes % 4 !== 0 || offsetBytes > data.byteLength) return command.invalidField(48)
  const bytes = new Uint8Array(data.buffer, offsetBytes, Math.min(lengthBytes, data.byteLength - offsetBytes))
  const status = sendData(command, device, bytes, lengthBytes)
  if (status !== STATUS.SUCCESS || RAE === 1) return status
  device.events.clear(lid)
  page.cleared?.(device)
  return status
}

function firmwareSlots({ profile }: Device): DataView {
  return FirmwareSlotLog.create({ AFI: { CAFS: 1 }, FRS1: profile.identify.FR ?? '' }).data
}
