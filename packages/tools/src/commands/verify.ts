import { verifyImage, type VerifyReport } from '@gpunvme/layer-loader/image'
import type { ErrorCategory } from '@gpunvme/nvme-spec/error'
import { errorLines, errorText, type ErrorText } from '../command-line/error-text.js'
import type { Invocation } from '../terminal/invocation.js'
import { verb, type Context } from '../command-line/verb.js'
import { membersOf } from '../drive/members.js'
import { EXIT } from '../command-line/exit-codes.js'
import { addTransportOptions, allowSeveral, type TransportFlags, type WithSeveral } from '../command-line/options.js'
import type { OutputOptions } from '../terminal/output.js'
import { printable } from '../terminal/printable.js'
import { Progress } from '../terminal/progress.js'
import { formatBytes, plural } from '../terminal/units.js'
import { requirePlace } from '../model/place.js'
import { hostChecksummer } from '../rig/gpu.js'
import { setOf } from '../model/store-of.js'
import { withStore } from '../model/with-store.js'

type Flags = WithSeveral<TransportFlags> & OutputOptions

export const verify = verb({
  options(command) {
    addTransportOptions(command, 'drive image made by pack')
    allowSeveral(command)
  },
  needs: 'reader',
  examples: [
    'gpunvme models verify --image drive.img',
    'gpunvme models verify --image drive.img --json',
    'gpunvme models verify --image one.img --image two.img --json',
  ],
  run,
})

async function run(flags: Flags, { output, session, signal }: Context): Promise<void> {
  const drives = await membersOf(flags)
  const { name: place } = await requirePlace(drives, 'models verify')
  const [report, set] = await withStore(drives, output, signal, async (store) => {
    const progress = new Progress(output, 'verifying')
    const onProgress = ({ doneBytes, totalBytes }: { doneBytes: number; totalBytes: number }) =>
      progress.update(doneBytes, totalBytes)
    const report = await verifyImage(store, { signal, onProgress, checksummer: hostChecksummer() }).finally(() =>
      progress.end(),
    )
    return [report, setOf(store)] as const
  })
  output.print(describe(place, report, output.invocation))
  output.driveObject('gpunvme.verify/1', { ...summary(place, report, output.invocation), ...set })
  if (!report.ok) session.exitCode = EXIT.verification
}

function describe(place: string, report: VerifyReport, invocation: Invocation): string[] {
  const { ok, problems, problemCount, bytes, chunks, image } = report
  const names = image?.models.map(({ name }) => `"${printable(name)}"`).join(', ')
  const models = names === undefined ? 'none readable' : names || 'none'
  const left = problemCount - problems.length
  return [
    `${printable(place)}: ${ok ? 'sound' : plural(problemCount, 'problem')}`,
    `  models   ${models}`,
    image === undefined
      ? '  checked  superblocks, directory and manifests, as far as they can be found'
      : `  checked  both superblocks, directory, manifests, ${plural(chunks, 'chunk')}; ${formatBytes(bytes)}`,
    ...problems.flatMap((problem) => ['', ...errorLines(errorText(problem, invocation))]),
    ...(left > 0 ? ['', `and ${left} more`] : []),
  ]
}

/** A problem of an image: its error, with the fields of its class. */
interface ProblemJson extends ErrorText {
  readonly code: string
  readonly category: ErrorCategory
  readonly [field: string]: unknown
}

function summary(
  place: string,
  { ok, problems, problemCount, bytes, chunks, image }: VerifyReport,
  invocation: Invocation,
) {
  return {
    ok,
    place,
    generation: image?.superblock.generation,
    models: image?.models.map(({ name, fingerprint }) => ({ name, fingerprint })) ?? [],
    checked: { chunks, bytes },
    problemCount,
    // `message` has the headline and the facts.
    problems: problems.map((problem): ProblemJson =>
      Object.assign({}, problem, { headline: undefined, facts: undefined }, errorText(problem, invocation)),
    ),
  }
}
