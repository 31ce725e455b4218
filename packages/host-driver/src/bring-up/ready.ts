import { ACQ, AQA, ASQ, CAP, CC, countOf, CRTO, CSTS, memoryPageBytes, VS, zeroBased } from '@gpunvme/nvme-spec'
import { PciHeader } from '@gpunvme/nvme-spec/pci'
import type { ConfigSpace, QueuePairMemory, Transport } from '@gpunvme/nvme-spec/transport'
import { DriverError } from '../error.js'
import { NS_PER_MS, waitUntil } from '../wait.js'
import { isLost } from '@gpunvme/nvme-spec/engine'
import { readPresent, type Registers } from './registers.js'

type Waiting = Pick<Transport, 'clock' | 'name'>

const HOST_PAGE_BYTES = 4096

/** Upper limit of waits for CSTS.RDY. Some drives report the maximum of CAP.TO, 127.5 s; a working drive needs less. */
const LONGEST_READY_WAIT_NS = 30_000 * NS_PER_MS

/** Properties of a controller that are known before it is enabled, from CAP. */
export interface Limits {
  /** Memory page size (CC.MPS): the smallest that host and controller support. */
  readonly pageBytes: number
  readonly mpsmin: number
  readonly dstrd: number
  /** Entries of the largest I/O queue. */
  readonly maxQueueEntries: number
  readonly readyTimeoutNs: number
  /** Time after clearing CC.EN in which CSTS is not read; 0 except for the controllers in SLOW_TO_DISABLE. */
  readonly delayBeforeReadyCheckNs: number
  /** CC.CSS: the NVM Command Set, or all supported sets if the controller offers only that. */
  readonly commandSets: typeof CC.CSS.NVM | typeof CC.CSS.IOCS
}

/**
 * Reads the controller's limits.
 * @throws DeviceLostError if the device does not respond; DriverError (UNSUPPORTED_CONTROLLER) if it lacks something
 *   that this driver needs.
 */
export function readLimits(
  registers: Registers,
  { name, config }: Pick<Transport, 'name' | 'config'>,
  readyTimeoutNs?: number,
): Limits {
  readPresent(registers, VS, name)
  const cap = readPresent(registers, CAP, name)
  const { MQES, MPSMIN, MPSMAX, CSS_NCSS, CSS_IOCSS, DSTRD, TO, CRWMS } = CAP.decode(cap)
  if (CSS_NCSS === 0 && CSS_IOCSS === 0)
    throw unsupportedController(name, 'it has no NVM Command Set, only Admin commands', CAP.format(cap))
  if (MQES < 1) throw unsupportedController(name, 'its queues hold one entry (CAP.MQES = 0)', CAP.format(cap))
  const pageBytes = Math.max(HOST_PAGE_BYTES, memoryPageBytes(MPSMIN))
  if (pageBytes > memoryPageBytes(MPSMAX)) {
    throw unsupportedController(name, `its largest memory page has ${memoryPageBytes(MPSMAX)} bytes`, CAP.format(cap))
  }
  // Controllers that become ready together with their media state the time in CRTO; CAP.TO may be shorter.
  const timeoutUnits = CRWMS === 1 ? Math.max(TO, CRTO.CRWMT.of(readPresent(registers, CRTO, name))) : TO
  const timeoutNs = Math.max(timeoutUnits, 1) * 500 * NS_PER_MS
  return {
    pageBytes,
    mpsmin: MPSMIN,
    dstrd: DSTRD,
    maxQueueEntries: countOf(MQES),
    readyTimeoutNs: readyTimeoutNs ?? Math.min(timeoutNs, LONGEST_READY_WAIT_NS),
    delayBeforeReadyCheckNs: delayBeforeReadyCheckNs(config),
    commandSets: CSS_NCSS === 1 ? CC.CSS.NVM : CC.CSS.IOCS,
  }
}

/**
 * Brings a controller from any state to CC.EN = 0 and CSTS.RDY = 0 (Base 2.1 §3.5.1). It has then dropped every
 * address, and no longer writes to former queue or data memory.
 * @throws DeviceLostError, DriverError (NOT_READY)
 */
export async function disable(registers: Registers, transport: Waiting, limits: Limits): Promise<void> {
  const { clock, name } = transport
  const configuration = readPresent(registers, CC, name)
  if (CC.EN.of(configuration) === 1) {
    // Clearing EN before RDY has risen is undefined. A controller that is becoming ready is therefore awaited, unless
    // it has failed: a reset recovers it.
    const settled = () => {
      const csts = readPresent(registers, CSTS, name)
      return CSTS.RDY.of(csts) === 1 || CSTS.CFS.of(csts) === 1
    }
    await waitUntil(clock, clock.now() + limits.readyTimeoutNs, settled)
    registers.write(CC, { EN: 0, SHN: CC.SHN.NONE }, configuration)
    const untilNs = clock.now() + limits.delayBeforeReadyCheckNs
    while (clock.now() < untilNs) await clock.idle(untilNs)
  }
  await waitForReady(registers, transport, limits, 0)
}

/**
 * Sets the addresses of the admin queues and the configuration, sets CC.EN = 1, and waits for CSTS.RDY = 1 (Base 2.1
 * §3.5.1).
 * @throws DeviceLostError, DriverError (ADMIN_QUEUE_REGISTERS, NOT_READY)
 */
export async function enable(
  registers: Registers,
  transport: Waiting,
  limits: Limits,
  admin: QueuePairMemory,
): Promise<void> {
  const { name } = transport
  const sizes = { ASQS: zeroBased(admin.sqEntries), ACQS: zeroBased(admin.cq.entries) }
  const asq = { ASQB: BigInt(admin.sq.iovaAt(0)) >> 12n }
  const acq = { ACQB: BigInt(admin.cq.memory.iovaAt(0)) >> 12n }
  registers.write(AQA, sizes)
  registers.write(ASQ, asq)
  registers.write(ACQ, acq)
  const aqa = readPresent(registers, AQA, name)
  const [asqFound, acqFound] = [readPresent(registers, ASQ, name), readPresent(registers, ACQ, name)]
  // With other addresses than intended, the controller would write to them.
  const isKept = aqa === AQA.encode(sizes) && asqFound === ASQ.encode(asq) && acqFound === ACQ.encode(acq)
  if (!isKept) {
    const found = [AQA.format(aqa), ASQ.format(asqFound), ACQ.format(acqFound)]
    const headline = `Controller ${name} did not keep the addresses of its admin queues`
    throw new DriverError('ERR_GPUNVME_ADMIN_QUEUE_REGISTERS', 'device', headline, {
      facts: [found.join('   ')],
      next: 'open the controller again; if it repeats, check that the transport writes 64-bit registers as two halves',
    })
  }
  const configuration = CC.encode({
    CSS: limits.commandSets,
    // Every controller supports round robin, and all queues here have the same priority.
    AMS: CC.AMS.ROUND_ROBIN,
    MPS: Math.log2(limits.pageBytes) - 12,
    IOSQES: 6, // 2 ^ 6 = 64 bytes
    IOCQES: 4, // 2 ^ 4 = 16 bytes
  })
  // CSS, MPS and AMS may change only while EN is 0, so they are written before EN is set.
  registers.write(CC, {}, configuration)
  registers.write(CC, { EN: 1 }, configuration)
  await waitForReady(registers, transport, limits, 1)
}

/**
 * Requests a normal shutdown, in which the controller commits its cache and its state (Base 2.1 §3.6.1).
 * @returns false if the shutdown did not complete in time; undefined, with nothing written, if the controller is disabled:
 * a shutdown that is still in progress would stop the controller after the next enable.
 * @throws DeviceLostError if the controller is lost.
 */
export async function shutdown(
  registers: Registers,
  { clock, name }: Waiting,
  timeoutNs: number,
): Promise<boolean | undefined> {
  const configuration = readPresent(registers, CC, name)
  if (CC.EN.of(configuration) === 0) return undefined
  let csts = 0
  const isComplete = () => CSTS.SHST.of(csts) === CSTS.SHST.COMPLETE
  const isOver = () => {
    csts = readPresent(registers, CSTS, name)
    return isLost(csts) || isComplete()
  }
  registers.write(CC, { SHN: CC.SHN.NORMAL }, configuration)
  await waitUntil(clock, clock.now() + timeoutNs, isOver)
  return isComplete()
}

async function waitForReady(
  registers: Registers,
  { clock, name }: Waiting,
  limits: Limits,
  ready: 0 | 1,
): Promise<void> {
  const startNs = clock.now()
  let csts = 0
  const isSettled = () => {
    csts = readPresent(registers, CSTS, name)
    return CSTS.RDY.of(csts) === ready || hasFailed()
  }
  const hasFailed = () => ready === 1 && CSTS.CFS.of(csts) === 1
  const reached = await waitUntil(clock, startNs + limits.readyTimeoutNs, isSettled)
  if (reached && !hasFailed()) return
  const found = { cc: readPresent(registers, CC, name), csts }
  throw notReady(name, found, ready, clock.now() - startNs)
}

/**
 * Controllers whose CSTS must not be read for a while after CC.EN was cleared, by Vendor ID and Device ID. From Linux's
 * NVME_QUIRK_DELAY_BEFORE_CHK_RDY (drivers/nvme/host/pci.c), whose delay was found by trial.
 */
const SLOW_TO_DISABLE: readonly (readonly [vid: number, did: number, name: string])[] = [
  [0x144d, 0xa821, 'Samsung PM1725'],
  [0x144d, 0xa822, 'Samsung PM1725a'],
  [0x1bb1, 0x0100, 'Seagate Nytro'],
  [0x1c58, 0x0003, 'HGST SN100'],
  [0x1c58, 0x0023, 'WDC SN200'],
  [0x1c5f, 0x0540, 'Memblaze PBlaze4'],
]
const SLOW_TO_DISABLE_NS = 2_300 * NS_PER_MS

/** Returns how long CSTS must not be read after CC.EN was cleared, in nanoseconds; 0 for most controllers. */
function delayBeforeReadyCheckNs(config: ConfigSpace | undefined): number {
  if (config === undefined) return 0
  const [vid, did] = [PciHeader.VID, PciHeader.DID].map(({ offset }) => config.read(offset, 2))
  return SLOW_TO_DISABLE.some(([vendor, device]) => vendor === vid && device === did) ? SLOW_TO_DISABLE_NS : 0
}

/** CSTS.RDY did not follow CC.EN within the controller's own time-out. @param found last values of the registers. */
function notReady(name: string, found: { cc: number; csts: number }, ready: 0 | 1, waitedNs: number): DriverError {
  const seconds = (waitedNs / 1e9).toFixed(1)
  const headline = `Controller ${name} not ready after ${seconds} s: waiting for CSTS.RDY = ${ready}`
  const facts = [`${CC.format(found.cc)}   ${CSTS.format(found.csts)}`]
  if (CSTS.CFS.of(found.csts) === 1) facts.push('CFS is set: the controller reported a fatal error')
  const next = 'reset the function or power-cycle the drive, then open it again'
  return new DriverError('ERR_GPUNVME_NOT_READY', 'device', headline, { facts, next })
}

/** The controller lacks something that this driver needs. */
export function unsupportedController(name: string, reason: string, ...facts: string[]): DriverError {
  const headline = `Controller ${name} cannot be used: ${reason}`
  return new DriverError('ERR_GPUNVME_UNSUPPORTED_CONTROLLER', 'infeasible', headline, { facts })
}
