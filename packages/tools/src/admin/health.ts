import { SmartHealthLog, type IdentifyController } from '@gpunvme/nvme-spec'
import { formatBytes } from '../terminal/units.js'
import { labelled } from './lines.js'

type Smart = ReturnType<typeof SmartHealthLog.decode>
type Limits = Pick<ReturnType<typeof IdentifyController.view>, 'WCTEMP' | 'CCTEMP'>

/** Something that the drive warns of, or that its numbers do. */
export interface Warning {
  /** The field that says so: 'CW.TTC'. */
  readonly field: string
  readonly text: string
  /** Whether it is a Critical Warning of the drive itself. */
  readonly critical: boolean
}

/** Data units are 1,000 times 512 bytes. */
const DATA_UNIT_BYTES = 512_000n

/** The freezing point of water, as drives and tools round it. */
const ZERO_CELSIUS_KELVINS = 273

/** Health, in units that people use. Counters of 128 bits are bigints. */
export interface Health {
  readonly warnings: readonly Warning[]
  readonly temperatureCelsius: number | undefined
  /** What the drive says that it must not pass; undefined where it does not say. */
  readonly warningCelsius: number | undefined
  readonly criticalCelsius: number | undefined
  /** Of sensors 1 to 8, where there are any. */
  readonly sensors: readonly { readonly sensor: number; readonly celsius: number }[]
  readonly sparePercent: number
  readonly spareThresholdPercent: number
  /** Of what the drive is made to endure; 255 is more than 254. */
  readonly usedPercent: number
  readonly readBytes: bigint
  readonly writtenBytes: bigint
  readonly readCommands: bigint
  readonly writeCommands: bigint
  readonly busyMinutes: bigint
  readonly powerCycles: bigint
  readonly powerOnHours: bigint
  readonly unexpectedPowerLosses: bigint
  readonly mediaErrors: bigint
  readonly errorLogEntries: bigint
  readonly warningTemperatureMinutes: number
  readonly criticalTemperatureMinutes: number
  readonly thermalManagement: readonly {
    readonly level: number
    readonly transitions: number
    readonly seconds: number
  }[]
}

/** @param limits of Identify Controller. */
export function healthOf(smart: Smart, limits: Limits): Health {
  const sensors = [
    smart.TSEN1,
    smart.TSEN2,
    smart.TSEN3,
    smart.TSEN4,
    smart.TSEN5,
    smart.TSEN6,
    smart.TSEN7,
    smart.TSEN8,
  ]
  return {
    warnings: [...criticalWarnings(smart), ...otherWarnings(smart, limits)],
    temperatureCelsius: celsius(smart.CTEMP),
    warningCelsius: celsius(limits.WCTEMP),
    criticalCelsius: celsius(limits.CCTEMP),
    sensors: sensors.flatMap((kelvins, index) => {
      const degrees = celsius(kelvins)
      return degrees === undefined ? [] : [{ sensor: index + 1, celsius: degrees }]
    }),
    sparePercent: smart.AVSP,
    spareThresholdPercent: smart.AVSPT,
    usedPercent: smart.PUSED,
    readBytes: smart.DUR * DATA_UNIT_BYTES,
    writtenBytes: smart.DUW * DATA_UNIT_BYTES,
    readCommands: smart.HRC,
    writeCommands: smart.HWC,
    busyMinutes: smart.CBT,
    powerCycles: smart.PWRC,
    powerOnHours: smart.POH,
    unexpectedPowerLosses: smart.UPL,
    mediaErrors: smart.MDIE,
    errorLogEntries: smart.NEILE,
    warningTemperatureMinutes: smart.WCTT,
    criticalTemperatureMinutes: smart.CCTT,
    thermalManagement: [
      { level: 1, transitions: smart.TMT1TC, seconds: smart.TTTMT1 },
      { level: 2, transitions: smart.TMT2TC, seconds: smart.TTTMT2 },
    ],
  }
}

/** What the drive itself warns of, in the specification's words; bits of later revisions by their number. */
function criticalWarnings({ CW, EGCWS }: Smart): Warning[] {
  return [
    ...warningsIn('CW', CW, SmartHealthLog.fields.CW.rows),
    ...warningsIn('EGCWS', EGCWS, SmartHealthLog.fields.EGCWS.rows),
  ]
}

function warningsIn(name: string, word: object, rows: Readonly<Record<string, { readonly doc: string }>>): Warning[] {
  return Object.entries(word).flatMap(([bit, value]: [string, unknown]) => {
    if (value === 0) return []
    const text = rows[bit]?.doc ?? `bits that are not known here: 0x${Number(value).toString(16)}`
    return [{ field: `${name}.${bit}`, text, critical: true }]
  })
}

/** What the numbers say before the drive does. */
function otherWarnings(smart: Smart, { WCTEMP, CCTEMP }: Limits): Warning[] {
  const hot =
    CCTEMP !== 0 && smart.CTEMP >= CCTEMP ? 'CCTEMP' : WCTEMP !== 0 && smart.CTEMP >= WCTEMP ? 'WCTEMP' : undefined
  const found: (readonly [isSo: boolean, field: string, text: string])[] = [
    [hot !== undefined, 'CTEMP', `as hot as ${hot === 'CCTEMP' ? 'is critical' : 'the drive warns of'} (${hot})`],
    [smart.PUSED >= 100, 'PUSED', `${smart.PUSED} % of what it is made to endure is used`],
    [smart.MDIE > 0n, 'MDIE', `${times(smart.MDIE)} data could not be corrected`],
  ]
  return found.flatMap(([isSo, field, text]) => (isSo ? [{ field, text, critical: false }] : []))
}

/** A sensor that is not there, and a limit that is not stated, is 0 kelvins. */
function celsius(kelvins: number): number | undefined {
  return kelvins === 0 ? undefined : kelvins - ZERO_CELSIUS_KELVINS
}

/** The warnings first, in the first line those that are critical. */
export function describeHealth(health: Health): string[] {
  const critical = health.warnings.filter((each) => each.critical)
  const first =
    critical.length === 0
      ? 'No critical warning (CW)'
      : `CRITICAL WARNING: ${critical.map(({ text, field }) => `${text} (${field})`).join('; ')}`
  const others = health.warnings.filter((each) => !each.critical)
  return [first, ...others.map(({ text, field }) => `Warning: ${text} (${field})`), ...numbersOf(health)]
}

function numbersOf(health: Health): string[] {
  const { sparePercent, spareThresholdPercent, usedPercent, thermalManagement } = health
  return [
    labelled('temperature', describeTemperature(health)),
    ...health.sensors.map(({ sensor, celsius: degrees }) => labelled(`  sensor ${sensor}`, `${degrees} °C`)),
    labelled('spare', `${sparePercent} %; the drive warns below ${spareThresholdPercent} %`),
    labelled('used', `${usedPercent === 255 ? 'more than 254' : usedPercent} % of what it is made to endure`),
    labelled('read', describeTraffic(health.readBytes, health.readCommands)),
    labelled('written', describeTraffic(health.writtenBytes, health.writeCommands)),
    labelled('busy', `${health.busyMinutes} min`),
    labelled('powered on', `${health.powerOnHours} h, ${times(health.powerCycles)}`),
    labelled('power lost', `${times(health.unexpectedPowerLosses)} unexpectedly`),
    labelled('media errors', `${health.mediaErrors}`),
    labelled('errors logged', `${times(health.errorLogEntries)} since it was made`),
    labelled('too hot', `${health.warningTemperatureMinutes} min, critically ${health.criticalTemperatureMinutes} min`),
    ...thermalManagement
      .filter(({ transitions }) => transitions > 0)
      .map(({ level, transitions, seconds }) =>
        labelled(`throttled (${level})`, `${times(BigInt(transitions))}, ${seconds} s in all`),
      ),
  ]
}

function describeTemperature({ temperatureCelsius, warningCelsius, criticalCelsius }: Health): string {
  const now = temperatureCelsius === undefined ? 'not reported' : `${temperatureCelsius} °C`
  const limits = [
    ...(warningCelsius === undefined ? [] : [`too hot from ${warningCelsius} °C`]),
    ...(criticalCelsius === undefined ? [] : [`critical from ${criticalCelsius} °C`]),
  ]
  return [now, ...limits].join(', ')
}

function times(count: bigint): string {
  return `${count} time${count === 1n ? '' : 's'}`
}

function describeTraffic(bytes: bigint, commands: bigint): string {
  return `${formatBytes(Number(bytes))} by ${commands} commands`
}
