import { AEI_SMART, AET, LID, NVM_OPCODE, SmartHealthLog, STATUS, TemperatureThreshold } from '@gpunvme/nvme-spec'
import type { Ended } from '../controller/command.js'
import type { Device } from '../controller/device.js'
import { BusyTime } from './busy-time.js'

/** A drive that has nothing to do: 35 °C. */
const IDLE_KELVINS = 308
/** WCTEMP and CCTEMP where the profile says nothing: 70 °C, at which a drive with a thermal model slows down, and 80 °C. */
const WARNING_KELVINS = 343
const CRITICAL_KELVINS = 353
/** Percent of spare capacity below which there is a critical warning. */
const SPARE_THRESHOLD = 10

const NS_PER_SECOND = 1e9
const NS_PER_MINUTE = 60 * NS_PER_SECOND
const NS_PER_HOUR = 60 * NS_PER_MINUTE
const { OVER, UNDER } = TemperatureThreshold.CDW11.THSEL
const { ASCBT, TTC } = SmartHealthLog.CW

// Which commands the counters count (NVM 1.2 §1.4.2).
const DATA_UNITS_READ = [NVM_OPCODE.COMPARE, NVM_OPCODE.READ, NVM_OPCODE.VERIFY]
const HOST_READS = [NVM_OPCODE.COMPARE, NVM_OPCODE.COPY, NVM_OPCODE.READ]
const USER_DATA_OUT = [NVM_OPCODE.COPY, NVM_OPCODE.WRITE]

/** What the controller itself has found wrong with the data (SCT 2h); a Compare that finds a difference is no such error. */
const integrityErrors: ReadonlySet<number> = new Set(
  [
    STATUS.WRITE_FAULT,
    STATUS.UNRECOVERED_READ_ERROR,
    STATUS.END_TO_END_GUARD_CHECK_ERROR,
    STATUS.END_TO_END_APPLICATION_TAG_CHECK_ERROR,
    STATUS.END_TO_END_REFERENCE_TAG_CHECK_ERROR,
    STATUS.END_TO_END_STORAGE_TAG_CHECK_ERROR,
  ].map(({ sc }) => sc),
)

/** What a test makes of a drive's health. */
export interface HealthChanges {
  /** The Composite Temperature; null: what follows from the work the drive does. */
  readonly temperatureKelvins?: number | null
  /** Available Spare: below 10 % it is a critical warning. */
  readonly availableSparePercent?: number
}

/** The controller's health over its whole life: what SMART / Health Information says, and the events that it raises. */
export class Health {
  /** WCTEMP and CCTEMP of Identify. */
  readonly warningKelvins: number
  readonly criticalKelvins: number
  readonly busy = new BusyTime()
  /** Percent. Nothing here wears out by itself. */
  private availableSpare = 100
  powerCycles = 1
  /** Losses of power before CSTS.SHST said that it may go. */
  unexpectedPowerLosses = 0
  mediaErrors = 0
  /** When temperature is to be looked at again while commands come in: never, where it does not change. */
  checkAtNs: number
  private readonly device: Device
  private givenKelvins: number | undefined
  private lastNs = 0
  private warmNs = 0
  private hotNs = 0

  constructor(device: Device) {
    const { WCTEMP = WARNING_KELVINS, CCTEMP = CRITICAL_KELVINS } = device.profile.identify
    this.device = device
    this.warningKelvins = WCTEMP
    this.criticalKelvins = CCTEMP
    this.checkAtNs = device.profile.thermal === undefined ? Infinity : 0
  }

  /** The composite temperature: what was given, or what follows from the work of the last minutes. */
  get kelvins(): number {
    const { drive, clock } = this.device
    const share = drive.heatShare(clock.now())
    return this.givenKelvins ?? Math.round(IDLE_KELVINS + share * (this.warningKelvins - IDLE_KELVINS))
  }

  /** A command has ended so: an error of the media counts. */
  failed({ sct, sc }: Ended): void {
    if (sct === STATUS.WRITE_FAULT.sct && integrityErrors.has(sc)) this.mediaErrors++
  }

  /**
   * Makes the drive as warm and as worn as that; null leaves its temperature to the work it does again.
   * @throws RangeError for what SMART could not say.
   */
  set({ temperatureKelvins, availableSparePercent }: HealthChanges): void {
    if (temperatureKelvins != null) checkRange('temperatureKelvins', temperatureKelvins, 0xffff)
    if (availableSparePercent !== undefined) checkRange('availableSparePercent', availableSparePercent, 100)
    this.note()
    if (temperatureKelvins !== undefined) this.givenKelvins = temperatureKelvins ?? undefined
    this.availableSpare = availableSparePercent ?? this.availableSpare
    this.check()
  }

  /** Bits of Critical Warning, as of now. */
  get warnings(): number {
    const { kelvins, availableSpare, device } = this
    const { features } = device
    const isBeyond = kelvins >= features.temperatureThreshold(OVER) || kelvins <= features.temperatureThreshold(UNDER)
    return (isBeyond ? 1 << TTC.lsb : 0) | (availableSpare < SPARE_THRESHOLD ? 1 << ASCBT.lsb : 0)
  }

  /** Raises an event for every warning there is: whoever does not want it again masks it (Base 2.3 §5.2.2). */
  check(): void {
    this.note()
    const { warnings, device } = this
    const { events, clock } = device
    if (device.profile.thermal !== undefined) this.checkAtNs = clock.now() + NS_PER_SECOND
    const raise = (aei: number) => events.raise(AET.SMART_HEALTH_STATUS, aei, LID.SMART_HEALTH_INFORMATION)
    if (TTC.of(warnings) === 1) raise(AEI_SMART.TEMPERATURE_THRESHOLD)
    if (ASCBT.of(warnings) === 1) raise(AEI_SMART.SPARE_BELOW_THRESHOLD)
  }

  /** The 512 bytes of the log page (Base 2.3 §5.2.12.1.3). */
  page(): DataView {
    this.note()
    const { counters, clock, errors } = this.device
    const nowNs = clock.now()
    const commands = (opcodes: readonly number[]) => BigInt(sumOf(counters.io, opcodes))
    const dataUnits = (opcodes: readonly number[]) => BigInt(Math.ceil(sumOf(counters.ioBytes, opcodes) / 512_000))
    return SmartHealthLog.create({
      CW: this.warnings,
      CTEMP: this.kelvins,
      AVSP: this.availableSpare,
      AVSPT: SPARE_THRESHOLD,
      DUR: dataUnits(DATA_UNITS_READ),
      DUW: dataUnits(USER_DATA_OUT),
      HRC: commands(HOST_READS),
      HWC: commands(USER_DATA_OUT),
      CBT: BigInt(Math.floor(this.busy.total(nowNs) / NS_PER_MINUTE)),
      PWRC: BigInt(this.powerCycles),
      POH: BigInt(Math.floor(nowNs / NS_PER_HOUR)),
      UPL: BigInt(this.unexpectedPowerLosses),
      MDIE: BigInt(this.mediaErrors),
      NEILE: BigInt(errors.count),
      WCTT: Math.floor(this.warmNs / NS_PER_MINUTE),
      CCTT: Math.floor(this.hotNs / NS_PER_MINUTE),
    }).data
  }

  /** Counts the time since the last look as warm or hot, by what the temperature is now. */
  private note(): void {
    const nowNs = this.device.clock.now()
    const { kelvins } = this
    if (kelvins >= this.criticalKelvins) this.hotNs += nowNs - this.lastNs
    else if (kelvins >= this.warningKelvins) this.warmNs += nowNs - this.lastNs
    this.lastNs = nowNs
  }
}

function sumOf(counts: Float64Array, opcodes: readonly number[]): number {
  return opcodes.reduce((sum, opcode) => sum + counts[opcode]!, 0)
}

function checkRange(name: string, value: number, most: number): void {
  if (!Number.isInteger(value) || value < 0 || value > most) {
    throw new RangeError(`setHealth: expected ${name} from 0 to ${most}, got ${value}`)
  }
}
