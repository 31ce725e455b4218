import { errorText } from '../command-line/error-text.js'
import type { Invocation } from '../terminal/invocation.js'
import type { OpenedTransport } from '../drive/opened-transport.js'
import type { Rig, RigPlan } from '../rig/open-rig.js'
import { printable } from '../terminal/printable.js'
import { describeLink, describeModelled, describeRate } from '../terminal/rate.js'
import { formatRow, formatTitles, widthOf, type Column } from '../terminal/table.js'
import { formatBytes, formatDuration, formatRate, plural } from '../terminal/units.js'
import { unitOf } from '../model/residence-report.js'
import { timesOf, type PassReport } from './passes.js'

/** Returns each decision with its reason. */
export function describeDecisions({ decisions }: Pick<RigPlan, 'decisions'>): string[] {
  return decisions.flatMap(({ subject, drive, chosen, reason, rejected }) => [
    ...labelled(subject, `${chosen}${drive === undefined ? '' : ` for ${printable(drive)}`}: ${reason}`),
    ...rejected.flatMap((other) => labelled('', `not ${other.option}: ${printable(other.reason)}`)),
  ])
}

function labelled(label: string, text: string): string[] {
  return [`${label.padEnd(12)}  ${text}`]
}

/** Returns the line about resident layers. */
export function describeLoaded(
  { loaded, placement, gpu = 'host memory' }: Pick<Rig, 'loaded' | 'placement' | 'gpu'>,
  { time, link }: Pick<OpenedTransport, 'time' | 'link'>,
): string[] {
  const { layers, bytes, elapsedNs, driveBusyNs, wallNs } = loaded
  const isTimed = driveBusyNs > 0
  const rate = isTimed
    ? `${formatDuration(elapsedNs)}, read at ${describeRate(bytes, driveBusyNs, link)}`
    : describeModelled(bytes, 0, link)
  const took = time === 'wall' ? rate : `modelled ${rate}; wall ${formatDuration(wallNs)}`
  return item(
    'loaded',
    `${plural(layers, unitOf(placement.layers))}, ${formatBytes(bytes)}, kept in ${printable(gpu)}: ${took}`,
  )
}

function item(label: string, text: string): string[] {
  return [`${label.padEnd(10)}${text}`]
}

/** Source of layers that are not resident. */
export function sourceOf({ controllers }: Pick<RigPlan, 'controllers'>): 'drive' | 'file' {
  return controllers.length > 0 ? 'drive' : 'file'
}

/** Table of passes, printed row by row. */
export class PassTable {
  /** Explains the columns. */
  readonly legend: readonly string[]
  private readonly columns: readonly Column[]
  private readonly hasGpu: boolean
  private readonly time: OpenedTransport['time']

  /** @param width terminal width; WALL is omitted if the table would be wider */
  constructor(
    rig: Pick<RigPlan, 'gpu' | 'controllers' | 'placement'>,
    time: OpenedTransport['time'],
    width = Infinity,
  ) {
    this.hasGpu = rig.gpu !== undefined
    this.time = time
    const source = sourceOf(rig)
    const number = (title: string, width = 8): Column => ({ title, align: 'right', width })
    const columns = [
      number('PASS', 4),
      ...(this.hasGpu ? [number('GPU')] : []),
      number('HOST'),
      number(source.toUpperCase()),
      number(time === 'modelled' ? 'MODELLED' : 'TIME'),
      number('PREDICTED', 9),
      ...(this.hasGpu ? [number('OVERLAP', 7)] : []),
      number('READ RATE', 9),
      ...(time === 'modelled' ? [number('WALL')] : []),
    ]
    this.columns = widthOf(columns) > width ? columns.filter(({ title }) => title !== 'WALL') : columns
    this.legend = [
      'Each pass provides every layer once, starting with those read ahead by the previous pass.',
      `${this.hasGpu ? 'GPU, ' : ''}HOST, ${source.toUpperCase()}: bytes by the place of the layers between passes.`,
      `PREDICTED: reads and copies, ${rig.placement.predicted.verified === undefined ? 'without' : 'with'} checksums.` +
        (this.hasGpu ? ' OVERLAP: share of the copy time with concurrent reads.' : ''),
    ]
  }

  get titles(): string {
    return formatTitles(this.columns)
  }

  row({ pass, bytes, elapsedNs, predictedNs, wallNs, driveBusyNs, copyBusyNs, bothBusyNs }: PassReport): string {
    const overlap = copyBusyNs > 0 ? `${Math.round((100 * bothBusyNs) / copyBusyNs)} %` : '-'
    const isMoving = driveBusyNs > 0 || copyBusyNs > 0
    return formatRow(this.columns, [
      String(pass),
      ...(this.hasGpu ? [formatBytes(bytes.gpu)] : []),
      formatBytes(bytes.host),
      formatBytes(bytes.drive),
      isMoving ? formatDuration(elapsedNs) : '-',
      isMoving ? formatDuration(predictedNs) : '-',
      ...(this.hasGpu ? [overlap] : []),
      bytes.drive > 0 ? formatRate(bytes.drive, driveBusyNs) : '-',
      ...(this.time === 'modelled' ? [formatDuration(wallNs)] : []),
    ])
  }
}

/** Returns the totals of all passes, measured and predicted, and the drive's rate with the limit of its link. */
export function describeTotals(
  passes: readonly PassReport[],
  { time, link }: Pick<OpenedTransport, 'time' | 'link'>,
): string[] {
  const sum = (of: (pass: PassReport) => number) => passes.reduce((total, pass) => total + of(pass), 0)
  const [readBytes, readNs] = [sum(({ bytes }) => bytes.drive), sum(({ driveBusyNs }) => driveBusyNs)]
  const copyNs = sum(({ copyBusyNs }) => copyBusyNs)
  if (readNs + copyNs === 0)
    return item('total', readBytes === 0 ? 'no data were read or copied' : describeModelled(readBytes, 0, link))
  const took = formatDuration(sum(({ elapsedNs }) => elapsedNs))
  const measured = `${plural(passes.length, 'pass', 'passes')} in ${time === 'modelled' ? 'modelled ' : ''}${took}`
  const predicted = `${formatDuration(sum(({ predictedNs }) => predictedNs))} predicted`
  const rate = readNs > 0 ? `; read at ${describeRate(readBytes, readNs, link)}` : ''
  return item('total', `${measured}, ${predicted}${rate}`)
}

/** Returns how data were verified. */
export function describeVerified({ decisions, placement }: RigPlan, passes: readonly PassReport[]): string[] {
  const { chosen, reason } = decisions.find(({ subject }) => subject === 'verification')!
  const { layers } = placement
  const verified = verifiedIn(passes, layers.length)
  if (verified === 0) return item('verified', `nothing: ${chosen === 'off' ? '--no-verify' : reason}`)
  return item('verified', `${verified} of ${plural(layers.length, unitOf(layers))}: ${chosen}, ${reason}`)
}

/** Returns the JSON result without the drive. */
export function loadResult(
  rig: Rig,
  passes: readonly PassReport[],
  { time, link }: Pick<OpenedTransport, 'time' | 'link'>,
  invocation: Invocation,
) {
  const { model, fingerprint, problems, gpu, tier, decisions, placement, loaded } = rig
  const place = { vram: gpu === undefined ? 'host' : 'gpu', ram: 'host', nvme: sourceOf(rig) } as const
  const driveBytes = passes.reduce((sum, { bytes }) => sum + bytes.drive, loaded.bytes)
  const driveNs = passes.reduce((sum, { driveBusyNs }) => sum + driveBusyNs, loaded.driveBusyNs)
  const { driveNs: predictedDriveNs, gpuLinkNs } = placement.predicted
  const { passNs, firstNs, boundBy } = timesOf(placement)
  return {
    model: { name: model.name, fingerprint },
    to: gpu === undefined ? { memory: 'host' } : { memory: 'gpu', gpu },
    tier,
    time,
    ...describeLink(driveBytes, driveNs, link),
    decisions,
    problems: problems.map((problem) => ({ code: problem.code, ...errorText(problem, invocation) })),
    layers: placement.layers.map(({ name, lengthBytes, residence }) => {
      return { name, bytes: lengthBytes, place: place[residence] }
    }),
    layersVerified: verifiedIn(passes, placement.layers.length),
    predicted: {
      boundBy,
      passNs: Math.round(passNs),
      firstNs: Math.round(firstNs),
      driveNs: Math.round(predictedDriveNs),
      ...(gpuLinkNs !== undefined && { gpuLinkNs: Math.round(gpuLinkNs) }),
    },
    loaded,
    passes,
  }
}

/** Engine and queues of the first drive. */
export function queuesOf({ controllers, decisions }: RigPlan) {
  const [controller] = controllers
  const engine = decisions.find(({ subject }) => subject === 'engine')?.chosen
  return { engine, queues: controller?.queues, depth: controller?.queueDepth }
}

/** Number of layers that were verified in each pass. */
function verifiedIn(passes: readonly PassReport[], layers: number): number {
  return passes.reduce((fewest, { layersVerified }) => Math.min(fewest, layersVerified), layers)
}
