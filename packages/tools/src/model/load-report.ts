import { errorText } from '../command-line/error-text.js'
import type { Invocation } from '../command-line/invocation.js'
import type { OpenedTransport } from '../drive/opened-transport.js'
import type { Rig, RigPlan } from '../rig/open-rig.js'
import { printable } from '../terminal/printable.js'
import { describeLink, describeModelled } from '../terminal/rate.js'
import { formatRow, formatTitles, wrap, type Column } from '../terminal/table.js'
import { formatBytes, formatDuration, formatRate, plural } from '../terminal/units.js'
import type { PassReport } from './passes.js'

/** For whoever reads the table: what its columns mean. */
export const PASSES_LEGEND = [
  'Each pass hands out every layer once. It starts with layers that the pass before read ahead.',
  'GPU, HOST and DRIVE: bytes of the layers that stay there between passes. RATE: of all bytes.',
  'PREDICTED: for reads and copies, without the time of checksums.',
]

/** Each decision and what ruled out the alternatives, for people. */
export function describeWhy({ why }: Pick<RigPlan, 'why'>): string[] {
  return why.flatMap(({ subject, drive, chosen, reason, rejected }) => [
    ...labelled(subject, `${chosen}${drive === undefined ? '' : ` for ${printable(drive)}`}: ${reason}`),
    ...rejected.flatMap((other) => labelled('', `not ${other.option}: ${printable(other.reason)}`)),
  ])
}

function labelled(label: string, text: string): string[] {
  return wrap(text, 66, '').map((line, index) => `${(index === 0 ? label : '').padEnd(12)}  ${line}`)
}

/** The layers that stay in memory. */
export function describeLoaded(
  { loaded, gpu, tier }: Pick<Rig, 'loaded' | 'gpu' | 'tier'>,
  wallNs: number,
  { time, link }: Pick<OpenedTransport, 'time' | 'link'>,
): string[] {
  const { layers, bytes, elapsedNs } = loaded
  const where = tier === 0 ? 'host memory' : (gpu ?? "host memory in a GPU's place")
  const rate = describeModelled(bytes, elapsedNs, link)
  const took = time === 'wall' ? rate : `modelled ${rate}; wall ${formatDuration(wallNs)}`
  return wrap(
    `loaded    ${plural(layers, 'layer')}, ${formatBytes(bytes)}, kept in ${printable(where)}: ${took}`,
    80,
    ' '.repeat(10),
  )
}

/** The table of passes, printed while it grows. */
export class PassTable {
  private readonly columns: readonly Column[]
  private readonly hasGpu: boolean
  private readonly time: OpenedTransport['time']

  constructor({ tier }: Pick<RigPlan, 'tier'>, time: OpenedTransport['time']) {
    this.hasGpu = tier > 0
    this.time = time
    const number = (title: string, width = 8): Column => ({ title, align: 'right', width })
    this.columns = [
      number('PASS', 4),
      ...(this.hasGpu ? [number('GPU')] : []),
      number('HOST'),
      number('DRIVE'),
      number(time === 'modelled' ? 'MODELLED' : 'TIME'),
      number('PREDICTED', 9),
      number('RATE', 9),
      ...(this.hasGpu ? [number('OVERLAP', 7)] : []),
      ...(time === 'modelled' ? [number('WALL')] : []),
    ]
  }

  get titles(): string {
    return formatTitles(this.columns)
  }

  row({ pass, bytes, elapsedNs, predictedNs, wallNs, copyBusyNs, bothBusyNs }: PassReport): string {
    const overlap = copyBusyNs > 0 ? `${Math.round((100 * bothBusyNs) / copyBusyNs)} %` : '-'
    return formatRow(this.columns, [
      String(pass),
      ...(this.hasGpu ? [formatBytes(bytes.gpu)] : []),
      formatBytes(bytes.host),
      formatBytes(bytes.drive),
      formatDuration(elapsedNs),
      formatDuration(predictedNs),
      formatRate(bytes.gpu + bytes.host + bytes.drive, elapsedNs),
      ...(this.hasGpu ? [overlap] : []),
      ...(this.time === 'modelled' ? [formatDuration(wallNs)] : []),
    ])
  }
}

/** What was verified, and how. */
export function describeVerified({ why, placement }: RigPlan, passes: readonly PassReport[]): string[] {
  const { chosen, reason } = why.find(({ subject }) => subject === 'verification')!
  const { length } = placement.layers
  const verified = `verified  ${verifiedIn(passes, length)} of ${plural(length, 'layer')}: ${chosen}, ${reason}`
  return wrap(verified, 80, ' '.repeat(10))
}

/** The members of the JSON result that follow from a rig and its passes. */
export function loadResult(
  rig: Rig,
  passes: readonly PassReport[],
  { time, link }: Pick<OpenedTransport, 'time' | 'link'>,
  invocation: Invocation,
): object {
  const { model, fingerprint, problems, gpu, tier, why, placement, loaded } = rig
  const place = { vram: tier === 0 ? 'host' : 'gpu', ram: 'host', nvme: 'drive' } as const
  const driveBytes = passes.reduce((sum, { bytes }) => sum + bytes.drive, loaded.bytes)
  const driveNs = passes.reduce((sum, { driveBusyNs }) => sum + driveBusyNs, loaded.elapsedNs)
  return {
    model: { name: model.name, fingerprint },
    to: gpu === undefined ? { memory: 'host' } : { memory: 'gpu', gpu },
    tier,
    time,
    ...describeLink(driveBytes, driveNs, link),
    why,
    problems: problems.map((problem) => ({ code: problem.code, ...errorText(problem, invocation) })),
    layers: placement.layers.map(({ name, lengthBytes, residence }) => {
      return { name, bytes: lengthBytes, place: place[residence] }
    }),
    layersVerified: verifiedIn(passes, placement.layers.length),
    predicted: placement.predicted,
  }
}

/** The engine and the queues of the first drive. */
export function queuesOf({ controllers, why }: RigPlan): object {
  const [controller] = controllers
  const engine = why.find(({ subject }) => subject === 'engine')?.chosen
  return { engine, queues: controller?.queues, depth: controller?.queueDepth }
}

/** Layers that were verified in every pass. */
function verifiedIn(passes: readonly PassReport[], layers: number): number {
  return passes.reduce((fewest, { layersVerified }) => Math.min(fewest, layersVerified), layers)
}
