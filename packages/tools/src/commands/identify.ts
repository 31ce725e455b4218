import { CAP, CNS, IdentifyController, IdentifyNamespace } from '@gpunvme/nvme-spec'
import { decodeAnswer, isUnsupported, NotSupportedError, dump } from '../admin/answer.js'
import { checkRaw, writeRaw } from '../admin/bytes.js'
import { RegistersRefusedError } from '../admin/kernel-registers.js'
import { controllerFacts, describeController, describeNamespace, namespaceFacts } from '../admin/identity-facts.js'
import { activeNamespaces, AS_BYTES, driveFacts, requireActive, type AdminView } from '../admin/view.js'
import { withAdminView } from '../admin/with-admin-view.js'
import { addDriveOptions, identifier, type DriveFlags } from '../command-line/options.js'
import { UsageError } from '../command-line/tools-error.js'
import { verb, type Context } from '../command-line/verb.js'
import { decodeIdentify } from '../decode/decode-data.js'
import { decodeStructure } from '../decode/decode-structure.js'
import type { Output, OutputOptions } from '../terminal/output.js'

interface Flags extends DriveFlags, OutputOptions {
  readonly cns?: number
  readonly csi?: number
  readonly fields?: boolean
  readonly raw?: boolean
}

/** CNS values of one namespace: the first active one by default. */
const OF_NAMESPACE: readonly number[] = [
  ...[CNS.NAMESPACE, CNS.NAMESPACE_DESCRIPTOR_LIST, CNS.COMMAND_SET_NAMESPACE, CNS.INDEPENDENT_NAMESPACE],
  ...[CNS.ALLOCATED_NAMESPACE, CNS.ATTACHED_CONTROLLER_LIST, CNS.COMMAND_SET_ALLOCATED_NAMESPACE],
]

const NOTES = `
Without --cns: a summary of the controller and of all namespaces, or of
--nsid; --json adds every declared field.
--raw writes the 4096 bytes of --cns, of namespace --nsid, or of the controller.
gpunvme nvme decode identify decodes them.`

export const identify = verb({
  options(command) {
    command
      .addOption(identifier('--cns <n>', 'structure to request: 2 or 02h is the namespace list'))
      .addOption(identifier('--csi <n>', 'command set for --cns (default: 0, NVM)'))
      .option('--fields', 'print every nonzero field by its name in the specification')
      .option('--raw', 'write the bytes returned by the drive')
    addDriveOptions(
      command,
      'drive image of the simulated controller',
      'only this namespace (default: all; with --cns the first active one)',
    )
  },
  needs: 'admin',
  about: NOTES,
  examples: [
    'gpunvme nvme identify --sim',
    'gpunvme nvme identify --sim --nsid 1 --fields',
    'gpunvme nvme identify --sim --cns 03h --json',
    'gpunvme nvme identify --profile ideal --capacity 64GiB --json',
  ],
  run,
})

async function run(flags: Flags, { output, signal }: Context): Promise<void> {
  checkRaw(flags, output)
  if (flags.csi !== undefined && flags.cns === undefined) {
    throw new UsageError('--csi requires --cns', { next: 'use --cns 05h, for the namespace data of that command set' })
  }
  await withAdminView(flags, output, signal, async (view) => {
    if (flags.nsid !== undefined && (flags.cns === undefined || flags.cns === CNS.NAMESPACE)) {
      await requireActive(view, flags.nsid)
    }
    output.note(`${view.name}, ${view.source}.`)
    if (flags.cns !== undefined) return reportStructure(view, flags.cns, flags, output)
    if (flags.raw) return writeRaw(await rawOf(view, flags.nsid), output.io)
    return reportSummary(view, flags, output)
  })
}

async function rawOf({ reader }: AdminView, nsid: number | undefined): Promise<DataView> {
  return nsid === undefined ? reader.identity.raw : reader.identify(CNS.NAMESPACE, AS_BYTES, { nsid })
}

async function reportStructure(view: AdminView, cns: number, flags: Flags, output: Output): Promise<void> {
  const { csi = 0 } = flags
  const nsid = flags.nsid ?? (OF_NAMESPACE.includes(cns) ? ((await activeNamespaces(view))[0] ?? 0) : 0)
  const what = `Identify ${CNS.nameOf(cns)}`
  const data = await view.reader.identify(cns, AS_BYTES, { nsid, csi }).catch((error: unknown) => {
    throw isUnsupported(error) ? new NotSupportedError(what, error, 'use another --cns, --csi or --nsid') : error
  })
  if (flags.raw) return writeRaw(data, output.io)
  const found = decodeAnswer(what, () => decodeIdentify(cns, csi, data)) ?? dump(`${what}: unknown structure`, data)
  output.print(found.lines)
  output.driveObject('gpunvme.identify/1', { drive: driveFacts(view), cns, csi, nsid, ...found.object })
}

async function reportSummary(view: AdminView, flags: Flags, output: Output): Promise<void> {
  const { raw } = view.reader.identity
  const nsids = flags.nsid === undefined ? await activeNamespaces(view) : [flags.nsid]
  const namespaces = []
  for (const nsid of nsids) namespaces.push({ nsid, raw: await rawOf(view, nsid) })
  const facts = controllerFacts(raw, capOf(view))
  const controller = { facts, found: decodeStructure(IdentifyController, raw) }
  const decoded = namespaces.map((each) => ({
    facts: namespaceFacts(each.nsid, each.raw),
    found: decodeStructure(IdentifyNamespace, each.raw),
  }))
  const blocks = [
    ...(flags.nsid === undefined ? [flags.fields ? controller.found.lines : describeController(facts)] : []),
    ...decoded.map((each) =>
      flags.fields ? [`Namespace ${each.facts.nsid}`, ...each.found.lines] : describeNamespace(each.facts),
    ),
    ...(nsids.length === 0 ? [['No active namespace']] : []),
  ]
  output.print(blocks.flatMap((block, at) => (at === 0 ? block : ['', ...block])))
  output.driveObject('gpunvme.identify/1', {
    drive: driveFacts(view),
    controller: { ...facts, ...controller.found.object },
    namespaces: decoded.map((each) => ({ ...each.facts, ...each.found.object })),
  })
}

/** Returns CAP if it is readable. */
function capOf({ readRegister }: AdminView): bigint | undefined {
  try {
    return readRegister(CAP) as bigint
  } catch (error) {
    if (error instanceof RegistersRefusedError) return undefined
    throw error
  }
}
