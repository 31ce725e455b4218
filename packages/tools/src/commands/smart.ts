import { IdentifyController, LID, SmartHealthLog } from '@gpunvme/nvme-spec'
import { isUnsupported, NotSupportedError } from '../admin/answer.js'
import { describeHealth, healthOf } from '../admin/health.js'
import { driveFacts, requireActive, type AdminView } from '../admin/view.js'
import { withAdminView } from '../admin/with-admin-view.js'
import { addDriveOptions, type DriveFlags } from '../command-line/options.js'
import { verb, type Context } from '../command-line/verb.js'
import { decodeStructure } from '../decode/decode-structure.js'
import type { OutputOptions } from '../terminal/output.js'
import { printable } from '../terminal/printable.js'

type Flags = DriveFlags & OutputOptions

const NOTES = `
The first line reports critical warnings; with --json, \`critical\` does. The
exit code is 0 if the log could be read. Drives count data in units of 512,000
bytes. Few drives keep the log per namespace (LPA.SMARTS).`

export const smart = verb({
  options(command) {
    addDriveOptions(command, 'drive image of the simulated controller', 'only this namespace, if the drive supports it')
  },
  needs: 'admin',
  about: NOTES,
  examples: ['gpunvme nvme smart --sim', 'gpunvme nvme smart --profile 980pro --json'],
  run,
})

async function run(flags: Flags, { output, signal }: Context): Promise<void> {
  await withAdminView(flags, output, signal, async (view) => {
    const { nsid } = flags
    if (nsid !== undefined) await requireActive(view, nsid)
    const data = await readHealth(view, nsid)
    const identity = IdentifyController.view(view.reader.identity.raw)
    const health = healthOf(SmartHealthLog.decode(data), identity)
    output.note(`${printable(identity.MN)}, ${view.name}, ${view.source}.`)
    output.print(describeHealth(health))
    output.driveObject('gpunvme.smart/1', {
      drive: { ...driveFacts(view), model: identity.MN, serial: identity.SN },
      ...(nsid !== undefined && { nsid }),
      critical: health.warnings.some(({ critical }) => critical),
      ...health,
      ...decodeStructure(SmartHealthLog, data).object,
    })
  })
}

async function readHealth({ reader }: AdminView, nsid: number | undefined): Promise<DataView> {
  const options = { lengthBytes: SmartHealthLog.bytes, ...(nsid !== undefined && { nsid }) }
  try {
    return await reader.logPage(LID.SMART_HEALTH_INFORMATION, options)
  } catch (error) {
    if (nsid === undefined || !isUnsupported(error)) throw error
    throw new NotSupportedError(`health per namespace`, error, 'omit --nsid, for the health of the whole drive')
  }
}
