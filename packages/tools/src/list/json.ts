import type { Invocation } from '../terminal/invocation.js'
import { renderStep } from '../command-line/next-step.js'
import { bestOf, functionAt, lanesOf, nowOf, treeOf, type Branch, type Lanes, type Machine, type PciFunction } from '../machine/index.js' // oxfmt-ignore
import { driveWays, gpuPaths } from '../machine/reach.js'
import { linkNotes } from '../machine/views/link-notes.js'
import type { ListedDrive } from './listed-drive.js'
import { nextOfGpu } from './tables.js'

/** Returns drives, GPUs and other disks for JSON. */
export function devicesJson(machine: Machine, drives: readonly ListedDrive[], invocation: Invocation) {
  return {
    drives: drives.map(({ found, next, undo, ...drive }) => ({
      ...drive,
      present: found !== undefined,
      ...placeOf(machine, found),
      ...(next !== undefined && { next: renderStep(next, invocation) }),
      ...(undo !== undefined && { undo: renderStep(undo, invocation) }),
    })),
    gpus: machine.gpus.map((gpu) => {
      const next = nextOfGpu(machine, gpu)
      return {
        ...gpu,
        ...placeOf(machine, functionAt(machine, gpu.address)),
        ...(next !== undefined && { next: renderStep(next, invocation) }),
      }
    }),
    otherDisks: machine.otherDisks,
  }
}

function placeOf(machine: Machine, found: PciFunction | undefined) {
  return {
    driver: found?.driver,
    group: found?.group,
    isResponding: found?.isResponding,
    link: { now: found && nowOf(found), best: found && bestOf(machine, found) },
  }
}

/** Returns remarks on links, and paths with the expected peer-to-peer traffic. @param about address of one end. */
export function reachJson(machine: Machine, about?: string) {
  const isOf = (...ends: readonly string[]) => about === undefined || ends.includes(about)
  return {
    notes: linkNotes(machine, about),
    gpuPaths: gpuPaths(machine).filter(({ from, to }) => isOf(from, to)),
    drivePaths: driveWays(machine).filter(({ gpu, drive }) => isOf(gpu, drive)),
  }
}

/** A PCI function with the functions behind it. */
interface FunctionJson extends PciFunction {
  readonly lanes: Lanes
  readonly behind: readonly FunctionJson[]
}

/** Returns the machine and its PCI functions as trees for JSON. */
export function topologyJson(machine: Machine) {
  const plain = ({ found, behind }: Branch): FunctionJson => ({
    ...found,
    lanes: lanesOf(machine, found.address),
    behind: behind.map(plain),
  })
  return {
    board: machine.board,
    cpu: machine.cpu,
    kernel: machine.kernel.release,
    iommu: { mode: machine.iommu.mode, kind: machine.iommu.kind, evidence: machine.iommu.evidence },
    virtualisation: machine.virtualisation,
    hostBridges: treeOf(machine).map(({ hostBridge, branches }) => ({ hostBridge, behind: branches.map(plain) })),
  }
}
