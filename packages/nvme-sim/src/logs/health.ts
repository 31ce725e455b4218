import { AEI_SMART, AET, LID, NVM_OPCODE, SmartHealthLog, STATUS, TemperatureThreshold } from '@gpunvme/nvme-spec'
import type { Ended } from '../controller/command.js'
import type { Device } from '../controller/device.js'
import { BusyTime } from './busy-time.js'

/** Temperature of an idle drive: 35 °C. */
const IDLE_KELVINS = 308
/** Default WCTEMP and CCTEMP: 70 °C, at which a drive with a thermal model throttles, and 80 °C. */
const WARNING_KELVINS = 343
const CRITICAL_KELVINS = 353
/** Critical warning threshold of the spare capacity, in percent. */
const SPARE_THRESHOLD = 10

const NS_PER_SECOND = 1e9
const NS_PER_MINUTE = 60 * NS_PER_SECOND
const NS_PER_HOUR = 60 * NS_PER_MINUTE
const { OVER, UNDER } = TemperatureThreshold.CDW11.THSEL
const { ASCBT, TTC } = SmartHealthLog.CW

// The commands that are counted (NVM 1.2 §1.4.2).
const DATA_UNITS_READ = [NVM_OPCODE.COMPARE, NVM_OPCODE.READ, NVM_OPCODE.VERIFY]
const HOST_READS = [NVM_OPCODE.COMPARE, NVM_OPCODE.COPY, NVM_OPCODE.READ]
const USER_DATA_OUT = [NVM_OPCODE.COPY, NVM_OPCODE.WRITE]

/** Data errors detected by the controller itself (SCT 2h); a Compare failure is not one. */
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

/** Health values that a test can set. */
export interface HealthChanges {
  /** The Composite Temperature; null for the temperature that results from the drive's work. */
  readonly temperatureKelvins?: number | null
  /** Available Spare; below 10 % it is a critical warning. */
  readonly availableSparePercent?: number
}

/** The controller's health over its life: the contents of SMART / Health Information, and its events. */
export class Health {
  /** WCTEMP and CCTEMP of Identify. */
  readonly warningKelvins: number
  readonly criticalKelvins: number
  readonly busy = new BusyTime()
  /** Percent. It does not wear out by itself. */
  private availableSpare = 100
  powerCycles = 1
  /** Power losses before CSTS.SHST reported that shutdown was complete. */
  unexpectedPowerLosses = 0
  mediaErrors = 0
  /** When to check the temperature again while commands arrive; Infinity if it does not change. */
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

  /** The composite temperature: as set, or resulting from the work of the last minutes. */
  get kelvins(): number {
    const { drive, clock } = this.device
    const share = drive.heatShare(clock.now())
    return this.givenKelvins ?? Math.round(IDLE_KELVINS + share * (this.warningKelvins - IDLE_KELVINS))
  }

  /** Counts the error of a command that failed because of the media. */
  failed({ sct, sc }: Ended): void {
    if (sct === STATUS.WRITE_FAULT.sct && integrityErrors.has(sc)) this.mediaErrors++
  }

  /**
   * Sets temperature and wear; null returns the temperature to that of the drive's work.
   * @throws RangeError for values that SMART cannot represent.
   */
  set({ temperatureKelvins, availableSparePercent }: HealthChanges): void {
    if (temperatureKelvins != null) checkRange('temperatureKelvins', temperatureKelvins, 0xffff)
    if (availableSparePercent !== undefined) checkRange('availableSparePercent', availableSparePercent, 100)
    this.note()
    if (temperatureKelvins !== undefined) this.givenKelvins = temperatureKelvins ?? undefined
    this.availableSpare = availableSparePercent ?? this.availableSpare
    this.check()
  }

  /** Current bits of Critical Warning. */
  get warnings(): number {
    const { kelvins, availableSpare, device } = this
    const { features } = device
    const isBeyond = kelvins >= features.temperatureThreshold(OVER) || kelvins <= features.temperatureThreshold(UNDER)
    return (isBeyond ? 1 << TTC.lsb : 0) | (availableSpare < SPARE_THRESHOLD ? 1 << ASCBT.lsb : 0)
  }

  /** Raises an event for every current warning; a host masks those that it does not want again (Base 2.3 §5.2.2). */
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

  /** Counts the time since the last check as warm or hot, by the current temperature. */
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

function checkRange(name: string, value: number, max: number): void {
  if (!Number.isInteger(value) || value < 0 || value > max) {
    throw new RangeError(`setHealth: expected ${name} from 0 to ${max}, got ${value}`)
  }
}
