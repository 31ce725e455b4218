import { CommandError } from '@gpunvme/host-driver'
import { FID } from '@gpunvme/nvme-spec'
import { NotSupportedError } from '../admin/answer.js'
import { FEATURES, featureNamed, listedFeature, nameOfFeature, type ListedFeature } from '../admin/feature-list.js'
import {
  inventory,
  readFeature,
  type FeatureAnswer,
  type FeatureQuestion,
  type Selection,
} from '../admin/read-feature.js'
import { activeNamespaces, driveFacts, requireActive, type AdminView } from '../admin/view.js'
import { withAdminView } from '../admin/with-admin-view.js'
import { byteNumber, addDriveOptions, whole, type DriveFlags } from '../command-line/options.js'
import { UsageError } from '../command-line/tools-error.js'
import { verb, type Context } from '../command-line/verb.js'
import type { Output, OutputOptions } from '../terminal/output.js'
import { printable } from '../terminal/printable.js'

const SELECTIONS = ['current', 'default', 'saved', 'supported'] as const satisfies readonly Selection[]

type Flags = DriveFlags & OutputOptions & { readonly [S in Selection]?: boolean } & { readonly cdw11?: number }

const NOTES = `
Without FEATURE, shows the features that Identify reports and names the others.
FEATURE is a name from that list or from the specification, or a number: 2, 0x02
or 02h. Others are requested only by name, since many drives log a rejected
request as an error. Current values of a drive bound to user space are those set
by gpunvme. Default and saved values require ONCS.SSFS. --cdw11 selects one of
several values, such as a sensor or a vector.`

export const features = verb({
  options(command) {
    command
      .argument('[feature]', 'feature (default: all)')
      .option('--current', 'current value (default)')
      .option('--default', 'factory default')
      .option('--saved', 'saved value, used after a reset')
      .option('--supported', 'whether it is changeable and saveable')
      .addOption(whole('--cdw11 <n>', 'Command Dword 11 of Get Features', 0, 0xffff_ffff))
    addDriveOptions(
      command,
      'a drive image to put behind the controller',
      'namespace, for features that are per namespace (default: the first active one)',
    )
  },
  needs: 'admin',
  about: NOTES,
  examples: [
    'gpunvme nvme features --sim',
    'gpunvme nvme features power-management --sim --default',
    'gpunvme nvme features 04h --sim --supported',
    'gpunvme nvme features --sim --json',
  ],
  run,
})

async function run(word: string | undefined, flags: Flags, { output, signal }: Context): Promise<void> {
  const select = selectionOf(flags)
  const listed = word === undefined ? undefined : featureOf(word)
  if (listed === undefined && flags.cdw11 !== undefined) {
    throw new UsageError('--cdw11 requires FEATURE', {
      next: { command: ['nvme', 'features', 'temperature-threshold', '--cdw11', '0x10000', '--drive', 'ADDRESS'] },
    })
  }
  await withAdminView(flags, output, signal, async (view) => {
    if (flags.nsid !== undefined) await requireActive(view, flags.nsid)
    const nsid = flags.nsid ?? (await activeNamespaces(view))[0]
    output.note(`${view.name}, ${view.source}.`)
    const question = { select, nsid, cdw11: flags.cdw11 }
    await (listed === undefined ? showAll(view, question, output) : showOne(view, listed, question, output))
  })
}

function selectionOf(flags: Flags): Selection {
  const chosen = SELECTIONS.filter((selection) => flags[selection])
  if (chosen.length > 1) {
    throw new UsageError(`${chosen.map((each) => `--${each}`).join(' and ')} are mutually exclusive`, {
      next: 'use one of them',
    })
  }
  return chosen[0] ?? 'current'
}

function featureOf(word: string): ListedFeature {
  const number = byteNumber(word)
  const listed = featureNamed(word) ?? (number === undefined ? undefined : listedFeature(number))
  if (listed !== undefined) return listed
  throw new UsageError(`Unknown feature '${printable(word)}'`, {
    facts: [
      `names: ${FEATURES.map(({ feature }) => nameOfFeature(feature.fid)).join(' ')}`,
      'or a number such as 2, 0x02 or 02h, or a name of the specification',
    ],
    next: { command: ['nvme', 'features', '--drive', 'ADDRESS'], note: 'which lists the features of the drive' },
  })
}

async function showOne(view: AdminView, listed: ListedFeature, question: FeatureQuestion, output: Output) {
  const answer = await readFeature(view, listed, question)
  output.print(describe(answer))
  output.driveObject('gpunvme.features/1', { ...context(view, question), features: [plain(answer)], absent: [] })
}

async function showAll(view: AdminView, question: FeatureQuestion, output: Output): Promise<void> {
  const { present, absent } = await inventory(view)
  const answers: FeatureAnswer[] = []
  const refused: { listed: ListedFeature; reason: string }[] = []
  for (const listed of present) {
    try {
      answers.push(await readFeature(view, listed, question))
    } catch (error) {
      // A rejected feature does not affect the others.
      if (!(error instanceof NotSupportedError) && !(error instanceof CommandError)) throw error
      const refusal = error instanceof NotSupportedError ? (error.cause as CommandError) : error
      refused.push({ listed, reason: refusal.statusText })
    }
  }
  output.print(
    answers.flatMap(describe),
    section('Rejected by the drive', refused),
    section('Unsupported or not requested', absent),
  )
  output.driveObject('gpunvme.features/1', {
    ...context(view, question),
    features: answers.map(plain),
    refused: refused.map(reasoned),
    absent: absent.map(reasoned),
  })
}

/** One line per reason, since most apply to several features. */
function section(
  title: string,
  listed: readonly { readonly listed: ListedFeature; readonly reason: string }[],
): string[] {
  if (listed.length === 0) return []
  const reasons = [...new Set(listed.map(({ reason }) => reason))]
  const those = (reason: string) => listed.filter((each) => each.reason === reason).map((each) => titleOf(each.listed))
  return ['', `${title}:`, ...reasons.map((reason) => `  ${reason}: ${those(reason).join(', ')}`)]
}

function describe({ listed, text, data }: FeatureAnswer): string[] {
  return [`${titleOf(listed)}${text === '' ? '' : `: ${text}`}`, ...(data?.lines ?? []).map((line) => `  ${line}`)]
}

function titleOf({ feature }: ListedFeature): string {
  return `${feature.fid.toString(16).padStart(2, '0').toUpperCase()}h ${feature.name}`
}

function context(view: AdminView, { select, nsid }: FeatureQuestion) {
  return { drive: driveFacts(view), select, nsid: nsid ?? null }
}

function plain({ listed, object }: FeatureAnswer) {
  return { ...facts(listed), ...object }
}

function reasoned({ listed, reason }: { readonly listed: ListedFeature; readonly reason: string }) {
  return { ...facts(listed), reason }
}

function facts({ feature }: ListedFeature) {
  return { fid: feature.fid, name: nameOfFeature(feature.fid), specName: FID.nameOf(feature.fid) }
}
