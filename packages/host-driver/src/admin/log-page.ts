import {
  countOf,
  ErrorLogEntry,
  GetLogPage,
  IdentifyController,
  LID,
  logPagePart,
  SmartHealthLog,
} from '@gpunvme/nvme-spec'
import { PAGE_OF_DATA_BYTES } from '../commands/command-queue.js'
import { unsupportedCommand } from '../commands/errors.js'
import { anything, checkOptions, object, type Checks } from '../check-options.js'
import { adminOptions, ALL_NAMESPACES, type AdminOptions, type AdminReads } from './admin-commands.js'

/** SMART / Health Information, decoded. */
export type SmartLog = ReturnType<typeof SmartHealthLog.decode>
/** An entry of Error Information, decoded. */
export type ErrorLog = ReturnType<typeof ErrorLogEntry.decode>

/** Options of `Controller.logPage`. */
export interface LogPageOptions extends AdminOptions {
  /** Number of bytes to read, a multiple of 4. */
  readonly lengthBytes: number
  /** Offset of the first byte, a multiple of 4. Default: 0. */
  readonly offsetBytes?: number
  /** Namespace. Default: FFFFFFFFh, all namespaces or none. */
  readonly nsid?: number
  /** Log Specific Parameter, encoded by the page's declaration in nvme-spec (`PersistentEventLsp`). */
  readonly lsp?: number
  /** Log Specific Identifier, for example of an NVM Set or an Endurance Group. */
  readonly lsi?: number
  /** Command Set Identifier, `CSI` of nvme-spec. */
  readonly csi?: number
  /** UUID Index. Default: 0. */
  readonly uuidIndex?: number
}

const logPageOptions: Checks<LogPageOptions> = {
  lengthBytes: anything,
  offsetBytes: anything,
  nsid: anything,
  lsp: anything,
  lsi: anything,
  csi: anything,
  uuidIndex: anything,
  ...adminOptions,
}

/**
 * Reads a log page (Base 2.1 §5.1.12), 4 KiB at a time. Some pages have a generation number that shows changes between
 * these reads. Asynchronous events are retained: the driver clears them itself.
 * @param lid `LID` of nvme-spec.
 * @throws RangeError; DriverError (UNSUPPORTED_COMMAND) for more than 4 KiB if the controller does not support offsets.
 */
export async function logPage(admin: AdminReads, lid: number, options: LogPageOptions): Promise<DataView> {
  object('logPage: options', options)
  checkOptions('logPage', options, logPageOptions)
  const { lengthBytes, offsetBytes = 0, nsid = ALL_NAMESPACES, timeoutNs } = options
  const { lsp = 0, lsi = 0, csi = 0, uuidIndex = 0 } = options
  if (!Number.isSafeInteger(lengthBytes) || lengthBytes < 4 || lengthBytes % 4 !== 0) {
    throw new RangeError(`lengthBytes: expected a positive multiple of 4, got ${lengthBytes}`)
  }
  const { LPA } = IdentifyController.view(admin.identity.raw)
  const takesOffsets = IdentifyController.LPA.LPEDS.of(LPA) === 1
  if (!takesOffsets && (offsetBytes !== 0 || lengthBytes > PAGE_OF_DATA_BYTES)) {
    throw unsupportedCommand(
      'Get Log Page with an offset',
      'LPA.LPEDS is 0',
      `read at most the first ${PAGE_OF_DATA_BYTES} bytes`,
    )
  }
  const page = new Uint8Array(lengthBytes)
  for (let done = 0; done < lengthBytes; done += PAGE_OF_DATA_BYTES) {
    const bytes = Math.min(PAGE_OF_DATA_BYTES, lengthBytes - done)
    const part = logPagePart(bytes / 4, offsetBytes + done)
    const values = { NSID: nsid, LID: lid, LSP: lsp, LSI: lsi, CSI: csi, UIDX: uuidIndex, RAE: 1, ...part } as const
    const { data } = await admin.repeat((queue) =>
      queue.exchange(GetLogPage, values, { lengthBytes: bytes, timeoutNs }),
    )
    page.set(new Uint8Array(data.buffer, data.byteOffset, bytes), done)
  }
  return new DataView(page.buffer)
}

/**
 * Reads SMART / Health Information of the controller (LID 02h). Temperatures are in kelvins; long counters are bigints.
 */
export async function smartLog(admin: AdminReads, options?: AdminOptions): Promise<SmartLog> {
  checkOptions('smartLog', options, adminOptions)
  const lengthBytes = SmartHealthLog.bytes
  return SmartHealthLog.decode(await logPage(admin, LID.SMART_HEALTH_INFORMATION, { lengthBytes, ...options }))
}

/**
 * Reads the latest entries of Error Information (LID 01h), the most recent first, without unused entries.
 * @param entries maximum number. Default: all that the controller keeps (ELPE).
 */
export async function errorLog(admin: AdminReads, entries = Infinity, options?: AdminOptions): Promise<ErrorLog[]> {
  checkOptions('errorLog', options, adminOptions)
  const { ELPE, LPA } = IdentifyController.view(admin.identity.raw)
  const { bytes } = ErrorLogEntry
  // The first command reads as much as is possible without an offset.
  const max = IdentifyController.LPA.LPEDS.of(LPA) === 1 ? countOf(ELPE) : PAGE_OF_DATA_BYTES / bytes
  const count = Math.min(entries, countOf(ELPE), max)
  if (!Number.isInteger(count) || count < 1) throw new RangeError(`entries: expected at least 1, got ${entries}`)
  const page = await logPage(admin, LID.ERROR_INFORMATION, { lengthBytes: count * bytes, ...options })
  const all = Array.from({ length: count }, (_, index) => ErrorLogEntry.decode(page, index * bytes))
  return all.filter(({ ECNT }) => ECNT !== 0n)
}
