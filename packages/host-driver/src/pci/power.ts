import {
  findCapability,
  PCI_CAPABILITY,
  PciExpressCapability,
  PciHeader,
  PowerManagementCapability,
} from '@gpunvme/nvme-spec/pci'
import type { Clock, ConfigSpace } from '@gpunvme/nvme-spec/transport'
import { DriverError } from '../error.js'
import { snapshot } from './config-space.js'

/** Time from D3hot to D0 before a function may be accessed (Linux drivers/pci/pci.h, PCI_PM_D3HOT_WAIT). */
export const D3HOT_WAIT_NS = 10_000_000

/** Registers that a function without No_Soft_Reset loses on its way to D0, and that are needed to access it. */
const FORGOTTEN = [
  PciHeader.CLS.offset,
  ...Array.from({ length: 6 }, (_, index) => PciHeader.BAR.offset + 4 * index),
  PciHeader.EROM.offset,
  PciHeader.ILINE.offset,
]

/**
 * Brings the function to D0 by its Power Management capability; a function without one is always in D0. Restores what
 * D3hot loses. Does not enable bus mastering: `enableFunction` does.
 * @throws DriverError (POWER_STATE) if it does not reach D0; PciConfigError if it is gone.
 */
export async function wakeFunction(config: ConfigSpace, clock: Clock): Promise<void> {
  const before = snapshot(config)
  const capability = findCapability(before, PCI_CAPABILITY.POWER_MANAGEMENT)
  if (capability === undefined) return
  const { PMCS } = PowerManagementCapability
  const offset = capability + PMCS.offset
  const control = config.read(offset, 2)
  if (PMCS.PS.of(control) === PMCS.PS.D0) return
  // PME Status is cleared by writing 1; it is left alone.
  config.write(offset, 2, control & ~maskOf(PMCS.PS) & ~maskOf(PMCS.PMES))
  const until = clock.now() + D3HOT_WAIT_NS
  while (clock.now() < until) await clock.idle(until)
  const arrived = PMCS.PS.of(config.read(offset, 2))
  if (arrived !== PMCS.PS.D0) {
    const [from, to] = [PMCS.PS.of(control), arrived].map((state) => PMCS.PS.nameOf(state))
    throw new DriverError(
      'ERR_GPUNVME_POWER_STATE',
      'device',
      `PMCSR: wrote PowerState D0 in ${from}, ${D3HOT_WAIT_NS / 1e6} ms later it reads ${to}`,
      {
        next: 'write "on" to power/control of the function in sysfs; if that does not help, remove it and rescan the bus',
      },
    )
  }
  if (PMCS.NSFRST.of(control) === 1) return
  restoreExpress(config, before)
  for (const register of FORGOTTEN) config.write(register & ~3, 4, before.getUint32(register & ~3, true))
}

/**
 * Restores the settings of firmware and kernel for link and transfers: payload and read request sizes, ASPM, completion
 * time-out.
 */
function restoreExpress(config: ConfigSpace, before: DataView): void {
  const capability = findCapability(before, PCI_CAPABILITY.PCI_EXPRESS)
  if (capability === undefined) return
  const { PXCAP, PXDC, PXLC, PXDC2, PXLC2 } = PciExpressCapability
  const version = PXCAP.VER.of(before.getUint16(capability + PXCAP.offset, true))
  // Version 1 ends before the second registers.
  for (const { offset } of version >= 2 ? [PXDC, PXLC, PXDC2, PXLC2] : [PXDC, PXLC])
    config.write(capability + offset, 2, before.getUint16(capability + offset, true))
}

/** Enables memory space and nothing else: registers can be read, and memory access stays as it was. */
export function enableMemorySpace(config: ConfigSpace): void {
  const { CMD } = PciHeader
  config.write(CMD.offset, 2, config.read(CMD.offset, 2) | maskOf(CMD.MSE))
}

/**
 * Enables memory space and bus mastering. COMMAND is read back, since a drive that cannot access memory hangs every
 * command.
 * @throws DriverError (BUS_MASTER) if it does not stay set.
 */
export function enableFunction(config: ConfigSpace): void {
  const { CMD } = PciHeader
  const wanted = maskOf(CMD.MSE) | maskOf(CMD.BME)
  config.write(CMD.offset, 2, config.read(CMD.offset, 2) | wanted)
  const command = config.read(CMD.offset, 2)
  if (command !== 0xffff && (command & wanted) === wanted) return
  // The drive could not access memory.
  throw new DriverError(
    'ERR_GPUNVME_BUS_MASTER',
    'device',
    'COMMAND: Memory Space Enable and Bus Master Enable did not stay set',
    {
      facts: [`COMMAND reads 0x${command.toString(16).padStart(4, '0')}`],
      next:
        command === 0xffff
          ? 'check that the drive is on the bus (lspci); if not, remove it and rescan the bus'
          : 'check what else writes to configuration space of this function: a bound driver, or another process',
    },
  )
}

/**
 * Ends every memory access of the function.
 * @returns whether it has certainly ended: false if the function does not respond, since it may be gone only for this
 *   host.
 */
export function disableBusMaster(config: ConfigSpace): boolean {
  const { CMD } = PciHeader
  const command = config.read(CMD.offset, 2)
  if (command === 0xffff) return false
  config.write(CMD.offset, 2, command & ~maskOf(CMD.BME))
  return CMD.BME.of(config.read(CMD.offset, 2)) === 0
}

/** Returns whether the function supports Function Level Reset, by its PCI Express capability. */
export function hasFunctionLevelReset(config: ConfigSpace): boolean {
  const copy = snapshot(config)
  const capability = findCapability(copy, PCI_CAPABILITY.PCI_EXPRESS)
  if (capability === undefined) return false
  const { PXDCAP } = PciExpressCapability
  return PXDCAP.FLRC.of(copy.getUint32(capability + PXDCAP.offset, true)) === 1
}

function maskOf({ msb, lsb }: { readonly msb: number; readonly lsb: number }): number {
  return (2 ** (msb - lsb + 1) - 1) * 2 ** lsb
}
