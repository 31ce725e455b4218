import { ErrorLogEntry, LID, logStructure } from '@gpunvme/nvme-spec'
import { decodeAnswer, isUnsupported, NotSupportedError, dump } from '../admin/answer.js'
import { checkRaw, writeRaw } from '../admin/bytes.js'
import { describeEffects } from '../admin/effects.js'
import { nameOfPage, PAGE_NAMES, pageNamed, supportedPages, usualBytes } from '../admin/log-pages.js'
import { driveFacts, requireActive, type AdminView } from '../admin/view.js'
import { withAdminView } from '../admin/with-admin-view.js'
import { byteNumber, addDriveOptions, size, whole, type DriveFlags } from '../command-line/options.js'
import { UsageError } from '../command-line/tools-error.js'
import { verb, type Context } from '../command-line/verb.js'
import { decodeLog } from '../decode/decode-data.js'
import type { Found } from '../decode/decode-structure.js'
import type { Output, OutputOptions } from '../terminal/output.js'
import { printable } from '../terminal/printable.js'
import { formatTable } from '../terminal/table.js'
import { formatBytes } from '../terminal/units.js'

interface Flags extends DriveFlags, OutputOptions {
  readonly length?: number
  readonly offset?: number
  readonly lsi?: number
  readonly raw?: boolean
}

/** Limit for telemetry of the largest drives, read by a command per 4 KiB. */
const MAX_BYTES = 64 * 1024 * 1024

const NOTES = `
Without PAGE, lists the supported pages. PAGE is a name from that list, a name
from the specification, or a number: 2, 0x02 or 02h.
Reading clears no event (RAE = 1) and creates nothing: telemetry-host shows the
last capture, persistent-event an established context.
Of pages with variable length, the header is shown; --length reads more, which
--json and --raw include. Unknown pages are dumped. gpunvme nvme decode log
decodes what --raw wrote.`

export const log = verb({
  options(command) {
    command
      .argument('[page]', 'log page (default: list all)')
      .addOption(size('--length <size>', 'length, a multiple of 4 bytes', 4))
      .addOption(size('--offset <size>', 'start, a multiple of 4 bytes, if the drive supports it'))
      .addOption(whole('--lsi <n>', 'NVM Set or Endurance Group, for pages that have one', 0, 0xffff))
      .option('--raw', 'write the bytes returned by the drive')
    addDriveOptions(command, 'drive image of the simulated controller', 'namespace, for pages that have one')
  },
  needs: 'admin',
  about: NOTES,
  examples: [
    'gpunvme nvme log --sim',
    'gpunvme nvme log firmware --sim',
    'gpunvme nvme log 05h --sim --json',
    'gpunvme nvme log error --sim',
  ],
  run,
})

async function run(word: string | undefined, flags: Flags, { output, signal }: Context): Promise<void> {
  checkRaw(flags, output)
  const lid = word === undefined ? undefined : lidOf(word)
  checkRange(flags, lid)
  await withAdminView(flags, output, signal, async (view) => {
    if (flags.nsid !== undefined) await requireActive(view, flags.nsid)
    output.note(`${view.name}, ${view.source}.`)
    await (lid === undefined ? listPages(view, output) : showPage(view, lid, flags, output))
  })
}

function lidOf(word: string): number {
  const lid = pageNamed(word) ?? byteNumber(word)
  if (lid !== undefined) return lid
  throw new UsageError(`Unknown log page '${printable(word)}'`, {
    facts: [`names: ${PAGE_NAMES.join(' ')}`, 'or a number such as 2, 0x02 or 02h, or a name of the specification'],
    next: { command: ['nvme', 'log', '--drive', 'ADDRESS'], note: 'which lists the pages of the drive' },
  })
}

function checkRange({ length, offset, lsi, raw = false }: Flags, lid: number | undefined): void {
  const given = length ?? offset ?? lsi
  if (lid === undefined && (given !== undefined || raw)) {
    throw new UsageError('--length, --offset, --lsi and --raw require a page', {
      next: { command: ['nvme', 'log', 'smart', '--raw', '--drive', 'ADDRESS'] },
    })
  }
  for (const [name, bytes] of Object.entries({ length, offset })) {
    if (bytes !== undefined && bytes % 4 !== 0) {
      throw new UsageError(`--${name}: expected a multiple of 4 bytes, got ${bytes}`)
    }
  }
  if (length !== undefined && length > MAX_BYTES) {
    throw new UsageError(`--length: expected at most ${formatBytes(MAX_BYTES)}, got ${formatBytes(length)}`, {
      next: 'use --offset for the rest',
    })
  }
}

async function listPages(view: AdminView, output: Output): Promise<void> {
  const pages = await supportedPages(view)
  const columns = [{ title: 'LID' }, { title: 'PAGE' }, { title: 'SAYS' }, { title: 'WHAT' }]
  output.print(
    formatTable(
      columns,
      pages.map(({ lid, name, declaredBy }) => [hexOf(lid), name, declaredBy, describePage(lid)]),
    ),
  )
  output.driveObject('gpunvme.log/1', {
    drive: driveFacts(view),
    pages: pages.map((page) => ({ ...page, specName: LID.nameOf(page.lid) })),
  })
}

/** Returns 'smart health information' for SMART_HEALTH_INFORMATION. */
function describePage(lid: number): string {
  if (lid >= 0xc0) return 'vendor-specific'
  const name = LID.nameOf(lid)
  return name.startsWith('0x') ? 'unknown' : name.toLowerCase().replaceAll('_', ' ')
}

async function showPage(view: AdminView, lid: number, flags: Flags, output: Output): Promise<void> {
  const { offset = 0, length = usualBytes(lid, view.reader.identity.raw) } = flags
  const what = `log page ${hexOf(lid)} (${nameOfPage(lid)})`
  const data = await readPage(view, lid, { offset, length }, flags, what)
  if (flags.raw) return writeRaw(data, output.io)
  const found = decodeAnswer(what, () => decodePage(lid, offset, data)) ?? undecoded(what, lid, offset, data)
  output.print(found.lines)
  output.driveObject('gpunvme.log/1', {
    drive: driveFacts(view),
    page: { lid, name: nameOfPage(lid), specName: LID.nameOf(lid), offsetBytes: offset, lengthBytes: data.byteLength },
    ...found.object,
  })
}

async function readPage(
  { reader }: AdminView,
  lid: number,
  { offset, length }: { readonly offset: number; readonly length: number },
  { nsid, lsi }: Flags,
  what: string,
): Promise<DataView> {
  const options = {
    lengthBytes: length,
    offsetBytes: offset,
    ...(nsid !== undefined && { nsid }),
    ...(lsi !== undefined && { lsi }),
  }
  try {
    return await reader.logPage(lid, options)
  } catch (error) {
    if (isUnsupported(error))
      throw new NotSupportedError(what, error, {
        command: ['nvme', 'log', '--drive', 'ADDRESS'],
        note: 'which lists the pages of the drive',
      })
    throw error
  }
}

/** Returns undefined for an incomplete structure, which is dumped. */
function decodePage(lid: number, offset: number, data: DataView): Found | undefined {
  if (
    lid === LID.ERROR_INFORMATION &&
    data.byteLength % ErrorLogEntry.bytes === 0 &&
    offset % ErrorLogEntry.bytes === 0
  ) {
    return decodeErrors(data)
  }
  if (offset !== 0 || data.byteLength < (logStructure(lid)?.bytes ?? 0)) return undefined
  const found = decodeLog(lid, data)
  const effects = describeEffects(lid, data)
  return found === undefined || effects === undefined ? found : { ...found, lines: effects }
}

function undecoded(what: string, lid: number, offset: number, data: DataView): Found {
  const why = logStructure(lid) === undefined ? 'unknown structure' : 'a part'
  return dump(`${what}: ${why}`, data, offset)
}

/** Decodes used entries only. */
function decodeErrors(data: DataView): Found {
  const count = data.byteLength / ErrorLogEntry.bytes
  const used = Array.from({ length: count }, (_, index) => index * ErrorLogEntry.bytes).filter(
    (at) => ErrorLogEntry.view(data, at).ECNT !== 0n,
  )
  const found = used.map((at) =>
    decodeLog(LID.ERROR_INFORMATION, new DataView(data.buffer, data.byteOffset + at, ErrorLogEntry.bytes)),
  )
  return {
    lines: [
      `${count} entries, ${used.length} with errors, latest first`,
      ...found.flatMap((each) => each?.lines ?? []),
    ],
    object: { entries: found.flatMap((each) => each?.object.entries ?? []) },
  }
}

function hexOf(lid: number): string {
  return `${lid.toString(16).padStart(2, '0').toUpperCase()}h`
}
