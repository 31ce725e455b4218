import { isKnown, valueOf } from '../../machine/known.js'
import type { Drive, Gpu, Machine } from '../../machine/machine.js'
import { countedShape, functionAt } from '../../machine/index.js'
import { formatBytes } from '../../terminal/units.js'
import { nameOf } from '../advice.js'
import type { Diagnosis } from './examine.js'
import { memoryOf, type Facts } from '../facts.js'
import { printableLine } from '../../terminal/printable.js'
import { shapeText } from '../../machine/views/names.js'

/** Returns the lines that name the machine and the examined devices. */
export function heading({ facts, pairs }: Diagnosis): string[] {
  const { machine } = facts
  const drives = machine.drives.filter(({ address }) => pairs.some(({ drive }) => drive === address))
  const gpus = machine.gpus.filter(
    ({ address, isIntegrated }) => !isIntegrated && (pairs.length === 0 || pairs.some(({ gpu }) => gpu === address)),
  )
  return [
    printableLine(systemOf(machine)),
    printableLine([nameOf(machine), kernelOf(machine), ...driverOf(facts)].join(', ')),
    '',
    ...list(
      'GPUs    ',
      gpus.map((gpu) => `${gpu.address}  ${describeGpu(facts, gpu)}`),
    ),
    ...list(
      'Drives  ',
      drives.map((drive) => `${drive.address}  ${describeDrive(facts, drive)}`),
    ),
  ]
}

function list(title: string, items: readonly string[]): string[] {
  if (items.length === 0) return [`${title}none`]
  return items.map((item, index) => `${index === 0 ? title : ' '.repeat(title.length)}${printableLine(item)}`)
}

function systemOf({ board, cpu }: Machine): string {
  const named = board.name === undefined ? board.systemName : [maker(board), board.name].filter(Boolean).join(' ')
  const processor = valueOf(cpu.model)
    ?.replace(/\((R|TM)\)/g, '')
    .replace(/ \d+-Core Processor$| CPU(?= @)/, '')
  return [named ?? 'Unknown board', processor].filter(Boolean).join(', ')
}

/** 'ASUSTeK' of 'ASUSTeK COMPUTER INC.'. */
function maker({ vendor }: Machine['board']): string | undefined {
  return vendor?.split(/[\s,]/)[0]
}

function kernelOf({ kernel }: Machine): string {
  return isKnown(kernel.release) ? `Linux ${kernel.release}` : 'unknown kernel'
}

function driverOf({ nvidia }: Facts): string[] {
  const running = valueOf(nvidia.running)
  if (running === undefined) return []
  const flavour = valueOf(running.flavour)
  return [`NVIDIA ${valueOf(running.version) ?? '?'}${flavour === undefined ? '' : ` (${flavour})`}`]
}

function describeGpu(facts: Facts, gpu: Gpu): string {
  const { address, vendor, model } = gpu
  const memory = valueOf(memoryOf(facts, gpu))
  return [
    valueOf(model) ?? `a GPU of ${vendor}`,
    ...(memory === undefined ? [] : [formatBytes(memory)]),
    ...linkOf(facts, address),
  ].join(', ')
}

function describeDrive(facts: Facts, { address, name, model }: Drive): string {
  const driver = functionAt(facts.machine, address)?.driver
  const holder = name ?? (driver === undefined ? 'no driver' : driver)
  return [`${valueOf(model) ?? 'an NVMe drive'} (${holder})`, ...linkOf(facts, address)].join(', ')
}

function linkOf(facts: Facts, address: string): string[] {
  const found = functionAt(facts.machine, address)
  const shape = found === undefined ? undefined : countedShape(facts.machine, found)
  return shape === undefined ? [] : [shapeText(shape)]
}
