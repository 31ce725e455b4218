import { SmartHealthLog, type IdentifyController } from '@gpunvme/nvme-spec'
import { formatBytes } from '../terminal/units.js'
import { labelled } from './lines.js'

type Smart = ReturnType<typeof SmartHealthLog.decode>
type Limits = Pick<ReturnType<typeof IdentifyController.view>, 'WCTEMP' | 'CCTEMP'>

/** A warning by the drive, or derived from its values. */
export interface Warning {
  /** The field with the cause: 'CW.TTC'. */
  readonly field: string
  readonly text: string
  /** Whether it is a Critical Warning of the drive. */
  readonly critical: boolean
}

/** A data unit is 1,000 times 512 bytes. */
const DATA_UNIT_BYTES = 512_000n

/** Zero degrees Celsius in kelvins, rounded as drives and tools do. */
const ZERO_CELSIUS_KELVINS = 273

/** SMART data in common units. Counters of 128 bits are bigints. */
export interface Health {
  readonly warnings: readonly Warning[]
  readonly temperatureCelsius: number | undefined
  /** Warning limit of the drive; undefined if it reports none. */
  readonly warningCelsius: number | undefined
  readonly criticalCelsius: number | undefined
  /** Present sensors, from 1 to 8. */
  readonly sensors: readonly { readonly sensor: number; readonly celsius: number }[]
  readonly sparePercent: number
  readonly spareThresholdPercent: number
  /** Percentage of rated endurance used; 255 means more than 254. */
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

/** @param limits temperature limits of Identify Controller. */
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

/** Returns critical warnings with the specification's descriptions; unknown bits by their value. */
function criticalWarnings({ CW, EGCWS }: Smart): Warning[] {
  return [
    ...warningsIn('CW', CW, SmartHealthLog.fields.CW.rows),
    ...warningsIn('EGCWS', EGCWS, SmartHealthLog.fields.EGCWS.rows),
  ]
}

function warningsIn(name: string, word: object, rows: Readonly<Record<string, { readonly doc: string }>>): Warning[] {
  return Object.entries(word).flatMap(([bit, value]: [string, unknown]) => {
    if (value === 0) return []
    const text = rows[bit]?.doc ?? `unknown bits 0x${Number(value).toString(16)}`
    return [{ field: `${name}.${bit}`, text, critical: true }]
  })
}

/** Returns warnings derived from values, which precede those of the drive. */
function otherWarnings(smart: Smart, { WCTEMP, CCTEMP }: Limits): Warning[] {
  const hot =
    CCTEMP !== 0 && smart.CTEMP >= CCTEMP ? 'CCTEMP' : WCTEMP !== 0 && smart.CTEMP >= WCTEMP ? 'WCTEMP' : undefined
  const found: (readonly [isSo: boolean, field: string, text: string])[] = [
    [hot !== undefined, 'CTEMP', `temperature reaches the ${hot === 'CCTEMP' ? 'critical' : 'warning'} limit (${hot})`],
    [smart.PUSED >= 100, 'PUSED', `${smart.PUSED} % of rated endurance is used`],
    [smart.MDIE > 0n, 'MDIE', `uncorrectable data errors: ${smart.MDIE}`],
  ]
  return found.flatMap(([isSo, field, text]) => (isSo ? [{ field, text, critical: false }] : []))
}

/** A missing sensor and an unspecified limit are 0 kelvins. */
function celsius(kelvins: number): number | undefined {
  return kelvins === 0 ? undefined : kelvins - ZERO_CELSIUS_KELVINS
}

/** Warnings come first, critical ones in the first line. */
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
    labelled('used', `${usedPercent === 255 ? 'more than 254' : usedPercent} % of rated endurance`),
    labelled('read', describeTraffic(health.readBytes, health.readCommands)),
    labelled('written', describeTraffic(health.writtenBytes, health.writeCommands)),
    labelled('busy', `${health.busyMinutes} min`),
    labelled('power-on time', `${health.powerOnHours} h, power cycles: ${health.powerCycles}`),
    labelled('power losses', `${health.unexpectedPowerLosses} unexpected`),
    labelled('media errors', `${health.mediaErrors}`),
    labelled('error log entries', `${health.errorLogEntries}`),
    labelled(
      'too hot',
      `${health.warningTemperatureMinutes} min; critical for ${health.criticalTemperatureMinutes} min`,
    ),
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
    ...(warningCelsius === undefined ? [] : [`warning from ${warningCelsius} °C`]),
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
