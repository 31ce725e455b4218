import { cudaStatus } from '@gpunvme/cuda-native'
import type { HeldDrive } from '../binding/bind-held.js'
import type { DriveFlags } from '../command-line/options.js'
import type { Session } from '../command-line/session.js'
import { ToolsError } from '../command-line/tools-error.js'
import { askProcess } from '../doctor/live.js'
import { examine } from '../doctor/report/examine.js'
import type { FoundDrive } from '../drive/find-drive.js'
import { nameOpened } from '../drive/named-drive.js'
import type { OpenedTransport } from '../drive/opened-transport.js'
import { causeOf, openTraced } from '../drive/with-drive.js'
import { readMachine, Root } from '../machine/index.js'
import { readNvidia } from '../nvidia/index.js'
import type { FindReach } from '../rig/reach.js'
import type { Output } from '../terminal/output.js'
import { formatBytes } from '../terminal/units.js'
import { bindDrive, restoreDrive, type BindFlags } from './bind-steps.js'
import { identifyDrive, readByCpu } from './drive-steps.js'
import type { Reference } from './extents.js'
import { probeDoorbell, readByGpu } from './gpu-steps.js'
import { machineFacts, type MachineFacts } from './machine-facts.js'
import { loadModel, probeTier } from './memory-steps.js'
import { readFromImage, readFromLinux, reportReference } from './outside-reads.js'
import type { Redactor } from './redact.js'
import type { FirstLightReport, StepFacts } from './report.js'
import { secretsOfMachine } from './secrets.js'
import { SkippedStep, type Sequence, type StepBody } from './sequence.js'

export interface RunFlags extends DriveFlags, BindFlags {
  readonly gpu?: number
  readonly staticBar1?: boolean
}

export interface RunParts {
  readonly flags: RunFlags
  /** The drive on this machine's bus; undefined for a simulated or served one. */
  readonly drive: FoundDrive | undefined
  readonly report: FirstLightReport
  readonly sequence: Sequence
  readonly redactor: Redactor
  readonly output: Output
  readonly session: Session
  /** For tests. */
  readonly open?: () => Promise<OpenedTransport>
  readonly findReach?: FindReach
}

/** Runs all steps. The drive is closed and returned in all cases. */
export async function runSteps(parts: RunParts): Promise<void> {
  const { flags, drive, report, sequence, redactor, output, session, findReach } = parts
  const { signal } = session
  const { gpu, staticBar1 } = report
  const { nsid } = flags
  let reference: Reference | undefined
  let held: HeldDrive | undefined
  let opened: OpenedTransport | undefined
  const onDrive = (use: (opened: OpenedTransport, record: (facts: StepFacts) => void) => Promise<string>): StepBody => {
    return async (record) => {
      try {
        return await use(opened!, record)
      } catch (error) {
        throw causeOf(error, opened!)
      }
    }
  }
  const settings = { gpu, nsid, staticBar1, signal, redactor, ...(findReach !== undefined && { findReach }) }
  const needs = ['identify'] as const

  try {
    await sequence.run('machine', (record) => examineMachine(parts, record))
    await sequence.run('reference', async (record) => {
      reference = await readOutside(parts)
      return reportReference(reference, record)
    })
    await sequence.run('bind', async (record) => {
      if (drive === undefined) throw new SkippedStep('only drives on the bus of this machine are bound')
      const bound = await bindDrive(drive, flags, { output, session, redactor }, record)
      held = bound.held
      return bound.text
    })
    await sequence.run(
      'identify',
      async (record) => {
        const { open = () => openTraced({ ...flags, ...(drive && { drive: drive.bdf }) }, 'read') } = parts
        opened = await open()
        report.drive = nameOpened(opened, flags).facts
        return onDrive(({ transport }) => identifyDrive(transport, redactor, record))(record)
      },
      { needs: ['bind'] },
    )
    await sequence.run(
      'read-cpu',
      onDrive(async ({ transport }, record) => {
        const read = await readByCpu(transport, nsid, reference, signal, record)
        reference = read.reference
        return read.text
      }),
      { needs },
    )
    await sequence.run(
      'doorbell',
      onDrive(({ transport }, record) => probeDoorbell(transport, gpu, signal, record)),
      { needs },
    )
    for (const doorbells of ['gpu', 'cpu'] as const) {
      await sequence.run(
        `read-${doorbells}-doorbell`,
        onDrive(({ transport }, record) => readByGpu(transport, { gpu, doorbells, reference }, signal, record)),
        { needs: doorbells === 'gpu' ? ['identify', 'doorbell'] : needs },
      )
    }
    await sequence.run(
      'tier',
      onDrive(({ transport }, record) => probeTier(transport, settings, record)),
      { needs },
    )
    await sequence.run(
      'load',
      onDrive((each, record) => loadModel(each, settings, output, record)),
      { needs },
    )
  } finally {
    await returnDrive()
  }

  async function returnDrive(): Promise<void> {
    const restore: StepBody = async (record) => {
      const closing = await Promise.allSettled([opened?.close()])
      if (drive === undefined) throw new SkippedStep('this command did not bind the drive')
      const text = await restoreDrive(held, drive, reference, record)
      if (closing[0].status === 'rejected') throw closing[0].reason
      return text
    }
    try {
      await sequence.run('restore', restore, { isFinal: true })
    } finally {
      // Also if the report could not be saved. A failure is in the report, or left to the watcher.
      await held?.release().catch(() => undefined)
    }
  }
}

async function examineMachine(
  { drive, report, redactor }: RunParts,
  record: (facts: StepFacts) => void,
): Promise<string> {
  const root = new Root('/')
  const facts = { machine: await readMachine(root), nvidia: await readNvidia(root), process: askProcess() }
  redactor.add(await secretsOfMachine(facts))
  const status = cudaStatus()
  const gpus = facts.machine.gpus.filter(({ vendor }) => vendor === 'NVIDIA')
  const gpu = status.available ? status.devices[report.gpu]?.bdf : gpus[report.gpu]?.address
  const only = [gpu, drive?.bdf].flatMap((each) => each ?? [])
  const read = machineFacts(examine(facts, { only }), gpu, drive?.bdf)
  // The builder of a kernel chooses part of its release.
  const found = { ...read, kernel: read.kernel === null ? null : redactor.text(read.kernel) }
  record({ machine: found })
  return describeMachine(found)
}

function describeMachine({ board, gpu, kernel, nvidia, iommu, best }: MachineFacts): string {
  const model = gpu === null ? 'no GPU' : (gpu.model ?? 'unknown GPU')
  const window = gpu?.windowBytes == null ? '' : ` (BAR1 ${formatBytes(gpu.windowBytes)})`
  const driver = nvidia === null ? '' : `NVIDIA ${nvidia.version ?? 'unknown'} (${nvidia.flavour ?? 'unknown'})`
  const route = best === null ? '' : `best route ${best.route}: ${best.outlook}`
  const parts = [
    board ?? 'unknown board',
    `${model}${window}`,
    `Linux ${kernel ?? 'unknown'}`,
    driver,
    `IOMMU ${iommu}`,
  ]
  return [...parts, route].filter((part) => part !== '').join(', ')
}

/** Reads the extents without this package's driver. @throws SkippedStep if that is not possible */
async function readOutside({ flags, drive }: RunParts): Promise<Reference> {
  const { image, nsid } = flags
  if (image !== undefined) return readFromImage(image)
  if (drive === undefined) throw new SkippedStep('Linux cannot read this drive: reads by the CPU become the reference')
  const { bdf, linuxName } = drive
  const none = new SkippedStep('Linux has no block device of the drive: reads by the CPU become the reference')
  if (linuxName === undefined) throw none
  try {
    return await readFromLinux({ bdf, linuxName }, nsid)
  } catch (error) {
    throw error instanceof ToolsError && error.code === 'ERR_GPUNVME_NO_BLOCK_DEVICE' ? none : error
  }
}
